# What the native half returns, or the condition for what went wrong there.
answered <- function(value, call = sys.call(-1L)) {
  if (!inherits(value, "rarely_problem")) {
    return(value)
  }
  shown <- c(value$message, if (!is.null(value$help)) paste("help:", value$help), if (!is.null(value$see)) paste("see:", value$see))
  stop(structure(
    class = c(paste0("rarely_", value$family, "_error"), "rarely_error", "error", "condition"),
    list(message = paste(shown, collapse = "\n"), call = call, help = value$help, see = value$see)
  ))
}

# An argument that is wrong, in the same form.
refuse <- function(message, help = NULL, call = sys.call(-1L)) {
  answered(structure(list(family = "argument", message = message, help = help), class = "rarely_problem"), call)
}

# R hears Ctrl-C while it evaluates this.
listen <- function() Sys.sleep(0)

# Writes bytes to a file, or says that it cannot be written.
write_bytes <- function(bytes, file, call) {
  tryCatch(suppressWarnings(writeBin(bytes, file)), error = function(error) {
    refuse(sprintf("%s: cannot be written", file), "check that the folder exists, and that you have permission to write there", call)
  })
  invisible(file)
}

# Checks that an argument is one text.
one_text <- function(value, name, call = sys.call(-1L)) {
  if (!is.character(value) || length(value) != 1L || is.na(value)) {
    refuse(sprintf("`%s` is not one text", name), call = call)
  }
  enc2utf8(value)
}
