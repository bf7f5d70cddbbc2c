rarely_algorithms <- function() .Call(wrap__known_names)$algorithms

rarely_environments <- function() .Call(wrap__known_names)$environments

rarely_simulate <- function(environment = "linear", algorithms = "all", rounds = NULL, runs = 50, seed = 1,
                            arms = NULL, dimension = NULL, noise = NULL, strength = NULL, table = NULL,
                            late = 0, missing = 0, drift = 0, batch = 0,
                            profile = "rigorous", explore = NULL, sets = NULL, delay = NULL, penalty = NULL,
                            declared_noise = NULL, norm_bound = NULL, prior_mean = NULL, error_probability = NULL,
                            tolerance = NULL, certificates = FALSE, run_traces = FALSE, threads = 0, out = NULL) {
  arguments <- as.list(base::environment())
  call <- sys.call()
  for (name in c("table", "out")) {
    if (is.character(arguments[[name]])) arguments[[name]] <- path.expand(arguments[[name]])
  }
  arguments$command <- deparse1(match.call())
  structure(answered(.Call(wrap__simulate, arguments, listen), call), class = "rarely_simulation")
}

print.rarely_simulation <- function(x, ...) {
  cat(x$text)
  invisible(x)
}

summary.rarely_simulation <- function(object, ...) object$summary

rarely_figures.rarely_simulation <- function(x, ...) list(figure = x$figure)

plot.rarely_simulation <- function(x, ...) {
  plot(x$figure, ...)
  invisible(x)
}
