# What the tests share. As a test of its own it does nothing.
library(rarely)

folder <- system.file("extdata", package = "rarely")
policy_file <- file.path(folder, "clinical-policy.toml")
log_file <- file.path(folder, "clinical-log.csv")

# The error that an expression raises: it must be one of ours, and its message must have all the pieces.
expect_problem <- function(expression, class, ...) {
  caught <- tryCatch(expression, rarely_error = identity)
  stopifnot(inherits(caught, "rarely_error"))
  if (!inherits(caught, class)) stop("the class is ", paste(class(caught), collapse = ", "))
  message <- conditionMessage(caught)
  for (piece in c(...)) {
    if (!grepl(piece, message, fixed = TRUE)) stop("the message lacks ", piece, ":\n", message)
  }
  invisible(caught)
}

# The lines of a text.
lines_of <- function(text) strsplit(text, "\n", fixed = TRUE)[[1L]]

# The output of a program of the tests, such as `rarely`, or NULL if this machine has not got it.
run_program <- function(variable, arguments, input = "") {
  program <- Sys.getenv(variable)
  if (program == "") {
    message(variable, " is not set: nothing is compared with the program")
    return(NULL)
  }
  file <- tempfile()
  if (!identical(input, "")) writeLines(input, file)
  # `rarely review` exits with 1 if a change is proposed.
  lines <- suppressWarnings(system2(program, arguments, stdout = TRUE, stdin = if (identical(input, "")) "" else file))
  attributes(lines) <- NULL
  Encoding(lines) <- "UTF-8"
  lines
}
