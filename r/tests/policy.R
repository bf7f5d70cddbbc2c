# Policies: the decisions and the learning of the core, bit for bit.
source("helpers.R")

digits <- function(x) paste0("[", paste(sprintf("%.17g", x), collapse = ","), "]")
rows <- function(x) paste0("[", paste(apply(x, 1, digits), collapse = ","), "]")
numbers_of <- function(json, name) {
  as.numeric(strsplit(sub(sprintf('.*"%s":\\[([^]]*)\\].*', name), "\\1", json), ",")[[1]])
}

set.seed(1)
people <- cbind(1, runif(400))
outcomes <- cbind(0.4, people[, 2]) + rnorm(800, sd = 0.1)

# The policy, played one person at a time, and what the core alone makes of the same people.
for (algorithm in c("rarely", "thompson", "linucb", "epsilon-greedy")) {
  policy <- rarely_policy(2, 2, algorithm, noise = 0.1, norm_bound = 2, seed = 3)
  arms <- propensities <- numeric()
  for (person in seq_len(nrow(people))) {
    chosen <- decide(policy, people[person, ])
    observe(policy, people[person, ], chosen$arm, outcomes[person, chosen$arm + 1], reasons = chosen$reason)
    arms <- c(arms, chosen$arm)
    propensities <- c(propensities, chosen$propensity)
  }
  request <- sprintf('{"arms":2,"dimension":2,"algorithm":"%s","noise":0.1,"norm_bound":2.0,"seed":3,"contexts":%s,"rewards":%s}',
                     algorithm, rows(people), rows(outcomes))
  answer <- run_program("RARELY_TRANSCRIPT", character(), request)
  state <- summary(policy)
  stopifnot(state$rounds == 400, state$decisions == 400)
  if (!is.null(answer)) {
    stopifnot(
      identical(numbers_of(answer, "arms"), arms), identical(numbers_of(answer, "propensities"), propensities),
      identical(numbers_of(answer, "estimates"), as.vector(t(coef(policy))))
    )
    if (!is.null(state$digest)) stopifnot(grepl(state$digest, answer, fixed = TRUE))
  }
}

# A block is learned as its rows are; the same seed decides alike.
play <- function(seed) {
  policy <- rarely_policy(2, 2, noise = 0.1, norm_bound = 2, seed = seed, explore = "equipoise:0.1")
  chosen <- decide(policy, people)
  changes <- observe(policy, people, chosen$arm, outcomes[cbind(1:400, chosen$arm + 1)])
  list(policy = policy, chosen = chosen, changes = changes)
}
one <- play(1)
stopifnot(identical(one$chosen, play(1)$chosen), identical(summary(one$policy)$digest, summary(play(1)$policy)$digest))
stopifnot(is.data.frame(one$changes), identical(summary(one$policy)$changes, one$changes))
stopifnot(identical(names(one$chosen), c("arm", "propensity", "reason")), all(one$chosen$propensity > 0))

log <- rarely_policy(2, 2, noise = 0.1, norm_bound = 2)
arms <- rep_len(0:1, 400)
changed <- observe(log, as.data.frame(people), arms, outcomes[cbind(1:400, arms + 1)], once = TRUE)
stopifnot(nrow(changed) == 1, changed$gain_lower > 0, grepl("gain", changed$certificate), nrow(rarely_reconsider(log)) == 0)
stopifnot(identical(predict(log, rbind(c(1, 0), c(1, 1))), c(0, 1)), identical(dim(coef(log)), c(2L, 2L)))
stopifnot(identical(rownames(coef(log)), c("0", "1")), identical(summary(log)$counts, c(200, 200)))
intervals <- rarely_intervals(log, rbind(c(1, 0), c(1, 1)))
stopifnot(nrow(intervals) == 4, all(intervals$lower < intervals$estimate & intervals$estimate < intervals$upper))
stopifnot(identical(intervals$row, c(1, 1, 2, 2)), identical(intervals$arm, c(0, 1, 0, 1)), any(!intervals$plausible))
stopifnot(any(grepl("400 outcomes, 1 change", capture.output(print(log)))), length(capture.output(print(summary(log)))) > 10)
pdf(NULL)
plot(log)
invisible(dev.off())

# One context variable: a vector is one person for each number.
single <- rarely_policy(3, 1, "thompson")
stopifnot(nrow(decide(single, c(1, 1, 1))) == 3, nrow(decide(single, 1)) == 1)

# Settings that are arrays have a row for each arm.
held <- rarely_policy(2, 2, deployed = rbind(c(0, 1), c(0.5, 0)), population = people)
stopifnot(identical(unname(summary(held)$rule), rbind(c(0, 1), c(0.5, 0))), identical(predict(held, rbind(c(1, 0), c(1, 1))), c(1, 0)))

# A policy is one object, and continues from its file exactly where it was.
same <- one$policy
invisible(decide(same, c(1, 0.5)))
stopifnot(summary(one$policy)$decisions == 401)
file <- tempfile()
rarely_save(one$policy, file)
again <- rarely_restore(file)
stopifnot(identical(decide(again, people), decide(one$policy, people)), identical(summary(again), summary(one$policy)))
