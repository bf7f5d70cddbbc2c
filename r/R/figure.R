rarely_figures <- function(x, ...) UseMethod("rarely_figures")

rarely_write <- function(x, file, ...) UseMethod("rarely_write")

print.rarely_figure <- function(x, ...) {
  cat(sprintf("<rarely figure %s: %s>\n", x$name, x$title))
  cat(strwrap(x$caption, indent = 2L, exdent = 2L), sep = "\n")
  invisible(x)
}

# The picture as large as it fits, in its own proportions.
plot.rarely_figure <- function(x, scale = 2, ...) {
  pixels <- answered(.Call(wrap__figure_pixels, x$handle, as.numeric(scale)))
  old <- par(mar = c(0, 0, 0, 0))
  on.exit(par(old))
  plot.new()
  plot.window(c(0, 1), c(0, 1), xaxs = "i", yaxs = "i")
  room <- par("pin")
  size <- rev(dim(pixels)) * min(room / rev(dim(pixels)))
  half <- size / room / 2
  rasterImage(pixels, 0.5 - half[[1L]], 0.5 - half[[2L]], 0.5 + half[[1L]], 0.5 + half[[2L]])
  invisible(x)
}

rarely_write.rarely_figure <- function(x, file, scale = 2, ...) {
  call <- sys.call()
  file <- path.expand(one_text(file, "file", call))
  bytes <- answered(.Call(wrap__figure_file, x$handle, tolower(tools::file_ext(file)), as.numeric(scale)), call)
  write_bytes(bytes, file, call)
}
