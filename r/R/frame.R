# A data frame or paths, as the native half reads them. Only the columns that are wanted are handed over.
handed_over <- function(data, wanted, name, call) {
  if (is.null(data)) {
    return(NULL)
  }
  if (is.character(data) && is.null(dim(data)) && length(data) > 0L && !anyNA(data)) {
    return(path.expand(enc2utf8(data)))
  }
  if (is.matrix(data)) {
    data <- as.data.frame(data)
  }
  if (!is.data.frame(data)) {
    refuse(sprintf("`%s` is of class %s", name, class(data)[[1L]]), "give a data frame, or the paths of files", call)
  }
  names <- enc2utf8(names(data))
  columns <- lapply(seq_along(names), function(at) {
    if (trimws(names[[at]]) %in% wanted) readable(data[[at]]) else NULL
  })
  list(names = names, columns = columns, rows = nrow(data))
}

# A column as it can be read without R: times as numbers, texts in UTF-8.
readable <- function(column) {
  if (inherits(column, "POSIXlt")) {
    column <- as.POSIXct(column)
  }
  if (is.factor(column)) {
    levels(column) <- enc2utf8(levels(column))
  } else if (is.character(column)) {
    column <- enc2utf8(column)
  }
  column
}
