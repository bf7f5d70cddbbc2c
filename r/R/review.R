rarely_review <- function(document, data = NULL, population = NULL, option_column = NULL, reject_limit = 0,
                          state = NULL, time_column = NULL) {
  call <- sys.call()
  shown <- deparse1(substitute(data))
  document <- rarely_document(document)
  if (inherits(state, "rarely_review")) {
    state <- state$state
  }
  for (name in c("option_column", "time_column")) {
    if (!is.null(get(name))) assign(name, one_text(get(name), name, call))
  }
  wanted <- answered(.Call(wrap__review_columns, document$text, document$source, option_column, time_column), call)
  arguments <- list(
    text = document$text, source = document$source,
    data = handed_over(data, wanted, "data", call),
    population = handed_over(population, wanted, "population", call),
    option_column = option_column, reject_limit = reject_limit, state = state, time_column = time_column,
    command = sprintf("rarely_review(%s, %s)", encodeString(document$source, quote = '"'), shown)
  )
  found <- answered(.Call(wrap__review, arguments, listen), call)
  found$document <- document
  structure(found, class = "rarely_review")
}

print.rarely_review <- function(x, ...) {
  cat(x$text)
  invisible(x)
}

summary.rarely_review <- function(object, ...) {
  kept <- c("policy", "verdict", "sentence", "reasons", "keeping_costs_at_most", "rows", "rejected_count",
            "candidates", "boundaries", "estimates")
  structure(c(object[kept], list(gain = object$proposal$gain)), class = "summary.rarely_review")
}

print.summary.rarely_review <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat(sprintf("%s: %s rows, verdict: %s\n", x$policy, format(x$rows, big.mark = ",", scientific = FALSE), x$verdict))
  cat(strwrap(c(x$sentence, x$reasons), indent = 2L, exdent = 2L), sep = "\n")
  cat("\nRules that were tried, with their gains per case:\n")
  print(x$candidates[c("rule", "changed_share", "gain", "gain_lower", "gain_upper")], digits = digits, row.names = FALSE)
  cat("\nEstimates:\n")
  print(x$estimates, digits = digits, row.names = FALSE)
  invisible(x)
}

plot.rarely_review <- function(x, which = 1L, ...) {
  figures <- rarely_figures(x)
  if (anyNA(which) || !all(which %in% c(names(figures), seq_along(figures)))) {
    refuse("`which` names no picture of this review",
           paste("choose from", paste(names(figures), collapse = ", ")), sys.call())
  }
  for (each in which) {
    plot(figures[[if (is.character(each)) each else as.integer(each)]], ...)
  }
  invisible(x)
}

rarely_figures.rarely_review <- function(x, ...) {
  figures <- answered(.Call(wrap__review_figures, x$handle))
  stats::setNames(figures, vapply(figures, function(figure) figure$name, ""))
}

rarely_write.rarely_review <- function(x, file, ...) {
  call <- sys.call()
  file <- path.expand(one_text(file, "file", call))
  content <- switch(
    tolower(tools::file_ext(file)),
    html = answered(.Call(wrap__review_page, x$handle), call),
    json = x$json,
    toml = if (is.null(x$proposal)) {
      refuse("the review proposes no change, so that there is no new document", call = call)
    } else {
      x$proposal$document
    },
    refuse(sprintf("%s: there is no such form of a review", file), "choose a name that ends in .html, .json or .toml",
           call)
  )
  # As it is, in UTF-8 wherever R runs.
  write_bytes(charToRaw(enc2utf8(content)), file, call)
}
