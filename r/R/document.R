rarely_document <- function(x) {
  if (inherits(x, "rarely_document")) {
    return(x)
  }
  call <- sys.call()
  if (!is.character(x) || length(x) == 0L || anyNA(x)) {
    refuse("a policy document is given by its path or its text", call = call)
  }
  # Lines, as readLines() returns them, are one text.
  text <- paste(enc2utf8(x), collapse = "\n")
  if (!grepl("\n", text, fixed = TRUE)) {
    text <- path.expand(text)
  }
  structure(answered(.Call(wrap__document, text), call), class = "rarely_document")
}

print.rarely_document <- function(x, ...) {
  cat(sprintf("<rarely document: %s>\n", x$name))
  cat("options: ", paste(x$options, collapse = ", "), "\n", sep = "")
  cat("features:", paste(x$features, collapse = ", "), "\n")
  cat("outcome: ", x$outcome, "\n")
  cat("rule in force:\n", paste0("  ", x$rule, "\n"), sep = "")
  invisible(x)
}
