rarely_policy <- function(arms, dimension, algorithm = "rarely", noise = 1, norm_bound = NULL,
                          error_probability = 0.001, penalty = 0.01, prior_mean = NULL, deployed = NULL,
                          explore = NULL, population = NULL, sets = NULL, tolerance = 0.01, growth = 0.3,
                          excluded_share = 0.01, minimum_gain = 0, deviations = NULL, safety = 0.1,
                          posterior_scale = NULL, epsilon = 0.05, alpha = 1, gap_scale = 10, bandwidth = 0.4,
                          discount = NULL, window = NULL, baseline = NULL, baseline_mean = NULL,
                          certificates = TRUE, seed = 0) {
  if (is.character(arms)) {
    return(rarely_document(arms))
  }
  if (missing(dimension)) {
    refuse("`dimension` is missing", "say how many numbers a context has; a constant counts")
  }
  arguments <- as.list(environment())
  call <- sys.call()
  for (name in c("prior_mean", "deployed", "population")) {
    if (!is.null(arguments[[name]])) arguments[[name]] <- by_row(arguments[[name]])
  }
  new_policy(answered(.Call(wrap__policy, arguments), call))
}

# An object that every copy shares: deciding draws random numbers, and observing learns.
new_policy <- function(handle) structure(list(handle = handle), class = "rarely_policy")

# The numbers of a matrix or a data frame row by row; those of a vector as they are.
by_row <- function(x) {
  if (is.data.frame(x)) {
    x <- data.matrix(x)
  }
  if (is.matrix(x)) as.vector(t(x)) else x
}

# Contexts as the native half reads them. A vector is one context or, if a context has one number, one for each.
contexts <- function(policy, x, call) {
  dimension <- policy_state(policy, call)$dimension
  values <- by_row(x)
  if (!is.numeric(values)) {
    refuse(sprintf("contexts are of class %s", class(x)[[1L]]),
           "give numbers: a vector, a matrix with a row for each person, or a data frame of numeric columns", call)
  }
  columns <- if (is.null(dim(x))) dimension else ncol(x)
  if (columns != dimension || length(values) %% dimension != 0) {
    has <- if (is.null(dim(x))) sprintf("%d numbers", length(values)) else sprintf("%d columns", columns)
    refuse(sprintf("the contexts have %s, but the policy has %d context variables", has, dimension),
           "the constant 1 counts as a variable, and is given like the others", call)
  }
  as.numeric(values)
}

policy_state <- function(policy, call = sys.call(-1L)) answered(.Call(wrap__policy_state, policy$handle), call)

decide <- function(policy, x, ...) UseMethod("decide")

decide.rarely_policy <- function(policy, x, ...) {
  call <- sys.call()
  answered(.Call(wrap__policy_decide, policy$handle, contexts(policy, x, call)), call)
}

observe <- function(policy, x, arms, rewards, ...) UseMethod("observe")

observe.rarely_policy <- function(policy, x, arms, rewards, reasons = NULL, once = FALSE, ...) {
  call <- sys.call()
  if (!is.numeric(arms) || !is.numeric(rewards)) {
    refuse("arms and rewards are not numbers", "arms count from 0, as decide() returns them", call)
  }
  values <- contexts(policy, x, call)
  if (!is.null(reasons)) reasons <- as.character(reasons)
  found <- .Call(wrap__policy_observe, policy$handle, values, as.numeric(arms), as.numeric(rewards), reasons,
                 isTRUE(once))
  answered(found, call)
}

rarely_reconsider <- function(policy) answered(.Call(wrap__policy_reconsider, policy$handle), sys.call())

predict.rarely_policy <- function(object, newdata, ...) {
  call <- sys.call()
  answered(.Call(wrap__policy_predict, object$handle, contexts(object, newdata, call)), call)
}

rarely_intervals <- function(policy, x) {
  call <- sys.call()
  answered(.Call(wrap__policy_intervals, policy$handle, contexts(policy, x, call)), call)
}

coef.rarely_policy <- function(object, ...) named_arms(policy_state(object)$estimates)

# A matrix with a row for each arm, by their numbers.
named_arms <- function(parameters) {
  if (!is.null(parameters)) {
    dimnames(parameters) <- list(arm = seq_len(nrow(parameters)) - 1L, NULL)
  }
  parameters
}

summary.rarely_policy <- function(object, ...) {
  state <- policy_state(object)
  state$estimates <- named_arms(state$estimates)
  state$rule <- named_arms(state$rule)
  structure(state, class = "summary.rarely_policy")
}

described <- function(state) {
  many <- function(count, what) sprintf("%.0f %s%s", count, what, if (count == 1) "" else "s")
  changes <- if (is.null(state$rule)) NULL else many(nrow(state$changes), "change")
  parts <- c(state$algorithm, many(state$arms, "arm"), many(state$dimension, "context variable"),
             many(state$rounds, "outcome"), changes)
  sprintf("<rarely policy: %s>\n", paste(parts, collapse = ", "))
}

print.rarely_policy <- function(x, ...) {
  cat(described(policy_state(x)))
  invisible(x)
}

print.summary.rarely_policy <- function(x, digits = max(3L, getOption("digits") - 3L), ...) {
  cat(described(x))
  show <- function(title, value) {
    if (!is.null(value) && NROW(value) > 0L) {
      cat("\n", title, "\n", sep = "")
      print(value, digits = digits)
    }
  }
  show("Outcomes of each arm:", if (!is.null(x$counts)) stats::setNames(x$counts, seq_along(x$counts) - 1L))
  show("Estimates, a row for each arm:", x$estimates)
  show("Rule in force, a row for each arm:", x$rule)
  show("Changes:", x$changes[names(x$changes) != "certificate"])
  if (length(x$stuck) > 0L) cat("\n", paste0(x$stuck, "\n"), sep = "")
  invisible(x)
}

# The estimated mean reward of each arm with its interval, along one context variable.
plot.rarely_policy <- function(x, along = 2L, between = c(0, 1), at = 1, arms = NULL, xlab = NULL,
                               ylab = "estimated mean reward", ...) {
  call <- sys.call()
  state <- policy_state(x)
  if (!is.numeric(along) || length(along) != 1L || !along %in% seq_len(state$dimension)) {
    refuse("`along` is not the number of a context variable", call = call)
  }
  if (!is.numeric(between) || length(between) != 2L || !all(is.finite(between)) || between[[1L]] >= between[[2L]]) {
    refuse("`between` is not two numbers, the smaller one first", call = call)
  }
  values <- seq(between[[1L]], between[[2L]], length.out = 101L)
  people <- matrix(rep_len(at, state$dimension), length(values), state$dimension, byrow = TRUE)
  people[, along] <- values
  all <- rarely_intervals(x, people)
  arms <- if (is.null(arms)) seq_len(state$arms) - 1L else arms
  all <- all[all$arm %in% arms, ]
  ends <- range(all$lower, all$upper, all$estimate, finite = TRUE)
  # Lines are named at their ends, in the margin.
  old <- par(mar = par("mar") + c(0, 0, 0, 3))
  on.exit(par(old))
  plot.new()
  plot.window(range(values), ends)
  colours <- grDevices::hcl.colors(max(2L, length(arms)), "Dark 3")
  for (each in seq_along(arms)) {
    own <- all[all$arm == arms[[each]], ]
    inside <- function(end) pmin(pmax(end, ends[[1L]]), ends[[2L]])
    polygon(c(values, rev(values)), c(inside(own$lower), rev(inside(own$upper))), border = NA,
            col = grDevices::adjustcolor(colours[[each]], 0.2))
    lines(values, own$estimate, col = colours[[each]], lwd = 2)
    text(values[[101L]], own$estimate[[101L]], paste("arm", arms[[each]]), pos = 4L, col = colours[[each]], xpd = NA)
  }
  axis(1L)
  axis(2L, las = 1L)
  title(xlab = if (is.null(xlab)) sprintf("context variable %d", along) else xlab, ylab = ylab, ...)
  invisible(x)
}

rarely_save <- function(policy, file) {
  call <- sys.call()
  if (!inherits(policy, "rarely_policy")) {
    refuse("`policy` is not an object of rarely_policy()", call = call)
  }
  file <- path.expand(one_text(file, "file", call))
  write_bytes(charToRaw(answered(.Call(wrap__policy_save, policy$handle), call)), file, call)
}

rarely_restore <- function(file) {
  call <- sys.call()
  file <- path.expand(one_text(file, "file", call))
  if (!file.exists(file)) {
    refuse(sprintf("%s: there is no such file", file), call = call)
  }
  text <- rawToChar(readBin(file, "raw", file.size(file)))
  new_policy(answered(.Call(wrap__policy_restore, text), call))
}
