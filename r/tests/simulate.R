# Simulations: the numbers of the program.
source("helpers.R")
options <- c("--rounds", "400", "--runs", "3", "--algorithms", "rarely,linucb,thompson", "--seed", "7", "--penalty", "0.1")
found <- rarely_simulate(algorithms = c("rarely", "linucb", "thompson"), rounds = 400, runs = 3, seed = 7, penalty = 0.1)

csv <- run_program("RARELY_PROGRAM", c("simulate", options, "--format", "csv"))
if (!is.null(csv)) {
  # Base R reads a decimal number to the nearest, as Rust writes the shortest that reads back.
  theirs <- read.csv(text = csv, check.names = FALSE, numerals = "no.loss")
  mine <- found$summary
  stopifnot(identical(dim(mine)[[1]], dim(theirs)[[1]]), all(names(mine) %in% names(theirs)))
  for (name in names(mine)) {
    same <- if (is.numeric(mine[[name]])) {
      identical(as.numeric(mine[[name]]), as.numeric(theirs[[name]]))
    } else {
      identical(mine[[name]], as.character(theirs[[name]]))
    }
    if (!same) stop(name, " differs")
  }
  text <- run_program("RARELY_PROGRAM", c("simulate", options))
  # The last two columns are how long it took.
  timeless <- function(lines) sub(" +[0-9.]+ +[0-9.]+( [kM])?$", "", lines)
  stopifnot(identical(timeless(text), timeless(lines_of(found$text))))
}

stopifnot(
  identical(found$summary$algorithm, c("rarely", "linucb", "thompson")),
  max(found$traces$round) == 400, nrow(found$runs) == 9, nrow(found$comparisons) == 3,
  is.data.frame(found$changes), is.null(found$run_traces), found$settings$rounds == 400,
  grepl("^rarely_simulate\\(", found$settings$command),
  identical(summary(found), found$summary),
  any(grepl("linucb", capture.output(print(found)))),
  "rarely" %in% rarely_algorithms(), "linear" %in% rarely_environments()
)

# The number of threads changes nothing; the seed does.
alike <- function(...) rarely_simulate(algorithms = "rarely", rounds = 200, runs = 4, ...)$traces
stopifnot(identical(alike(threads = 1), alike(threads = 2)), !identical(alike(seed = 1), alike(seed = 2)))

# Names joined by commas, traces of every run, files, and a picture.
out <- file.path(tempdir(), "simulated")
other <- rarely_simulate(algorithms = "rarely, linucb", rounds = 100, runs = 2, run_traces = TRUE, certificates = TRUE, out = out,
                         declared_noise = "unknown", norm_bound = "auto", sets = "joint", late = 3)
stopifnot(nrow(other$run_traces) > 0, all(c("summary.csv", "run.json") %in% list.files(out)))
pdf(NULL)
plot(found)
invisible(dev.off())

# A table of people whose outcome under every arm is known.
set.seed(1)
people <- data.frame(one = 1, age = runif(50))
people$`outcome:watch` <- 0.5 + rnorm(50, sd = 0.1)
people$`outcome:treat` <- people$age + rnorm(50, sd = 0.1)
table <- tempfile(fileext = ".csv")
write.csv(people, table, row.names = FALSE)
tabled <- rarely_simulate(table = table, algorithms = c("fixed", "rarely"), runs = 2, declared_noise = 0.1)
stopifnot(tabled$summary$changes[[1]] == 0, max(tabled$traces$round) == 50)
