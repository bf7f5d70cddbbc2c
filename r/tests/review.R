# Reviews: the numbers and texts of the program, from a data frame.
source("helpers.R")
log <- read.csv(log_file)
found <- rarely_review(policy_file, log)

# The same bytes as the program.
json <- run_program("RARELY_PROGRAM", c("review", "--policy", policy_file, "--data", log_file, "--format", "json"))
if (!is.null(json)) {
  stopifnot(identical(paste0(paste(json, collapse = "\n"), "\n"), found$json))
  text <- run_program("RARELY_PROGRAM", c("review", "--policy", policy_file, "--data", log_file))
  stopifnot(identical(text, lines_of(found$text)))
  pages <- tempfile()
  run_program("RARELY_PROGRAM", c("review", "--policy", policy_file, "--data", log_file, "--out", pages))
  svg <- tempfile(fileext = ".svg")
  for (figure in rarely_figures(found)) {
    rarely_write(figure, svg)
    theirs <- file.path(pages, "figures", paste0(figure$name, ".svg"))
    stopifnot(identical(readBin(svg, "raw", 1e7), readBin(theirs, "raw", 1e7)))
  }
}

stopifnot(
  found$verdict == "change", found$rows == 8000, found$rejected_count == 0,
  is.data.frame(found$findings), nrow(found$findings) > 10, all(nzchar(found$findings$sentence)),
  is.data.frame(found$candidates), nrow(found$candidates) >= 1,
  all(found$candidates$gain_lower <= found$candidates$gain & found$candidates$gain <= found$candidates$gain_upper),
  found$numbers$rows == 8000, identical(found$numbers$verdict, "change"),
  identical(found$numbers$candidates[[1]]$gain$estimate, found$candidates$gain[[1]]),
  is.data.frame(found$boundaries), found$boundaries$threshold == 140,
  is.data.frame(found$estimates), setequal(found$estimates$option, c("watch", "treat")),
  # In a locale that is not UTF-8, R writes some characters as their numbers.
  !l10n_info()$`UTF-8` || identical(capture.output(print(found)), lines_of(found$text)),
  any(grepl("verdict: change", capture.output(print(summary(found)))))
)

# Everything that a data frame can hold gives the same review.
as_seen <- function(review) review[c("json", "text", "state")]
document <- rarely_document(policy_file)
variants <- list(
  files = log_file,
  factors = transform(log, treatment = factor(treatment)),
  reordered = transform(log, treatment = factor(treatment, levels = c("treat", "watch", "nobody"))),
  numbers = transform(log, systolic = as.numeric(systolic)),
  unused = transform(log, week = as.difftime(week, units = "weeks"), list = I(as.list(seq_len(nrow(log))))),
  spaces = setNames(log, paste0(" ", names(log), " ")),
  text = transform(log, systolic = as.character(systolic)),
  matrix = as.matrix(log)
)
for (name in names(variants)) {
  other <- rarely_review(document, variants[[name]])
  if (!identical(as_seen(other), as_seen(found))) stop(name, " gives another review")
}
stopifnot(identical(as_seen(rarely_review(readLines(policy_file), log)), as_seen(found)))
stopifnot(identical(as_seen(rarely_review(rarely_policy(policy_file), log)), as_seen(found)))

# Next month's log, and another name of the option column.
first <- rarely_review(document, log[1:4000, ])
both <- rarely_review(document, log[4001:8000, ], state = first)
stopifnot(both$rows == 8000, identical(rarely_review(document, state = both$state)$rows, 8000))
renamed <- setNames(log, sub("treatment", "given", names(log)))
stopifnot(identical(rarely_review(document, renamed, option_column = "given")$verdict, "change"))
stopifnot(nrow(rarely_review(document, log, population = log[1:100, ])$candidates) >= 1)

# Dates, times and logical values as a file has them.
text <- sub("[evidence]", '[evidence]\ntime = "day"', found$document$text, fixed = TRUE)
text <- sub("[evidence]", paste0('[[features]]\ncolumn = "diabetic"\nlevels = ["false", "true"]\n\n[evidence]'), text, fixed = TRUE)
dated <- data.frame(log[order(log$week), ], day = as.Date("2026-01-01") + 7 * sort(log$week))
dated$diabetic <- dated$systolic %% 2 == 0
as_text <- transform(dated, day = format(day), diabetic = ifelse(diabetic, "true", "false"))
stopifnot(identical(rarely_review(text, dated)$json, rarely_review(text, as_text)$json))
clock <- transform(dated, day = as.POSIXct(day))
stopifnot(identical(rarely_review(text, clock)$json, rarely_review(text, dated)$json))
local <- transform(dated, day = as.POSIXlt(day, tz = "UTC"))
stopifnot(identical(rarely_review(text, local)$json, rarely_review(text, dated)$json))

# What NA means is said in the document, or is an error with its place. Rows count from 1.
missing <- log
missing$wellbeing[c(3, 7)] <- NA
missing$systolic[5] <- NaN
expect_problem(rarely_review(document, missing), "rarely_data_error", "the data frame, row 3, column `wellbeing`", "help:",
               "`reject_limit`")
tolerant <- rarely_review(document, missing, reject_limit = 3)
stopifnot(tolerant$rejected_count == 3, length(tolerant$rejected) == 3, grepl("row 5", tolerant$rejected[[2]]))
missing$treatment[2] <- NA
expect_problem(rarely_review(document, missing), "rarely_data_error", "row 2, column `treatment`")

# Pictures and files.
figures <- rarely_figures(found)
stopifnot(length(figures) >= 2, identical(names(figures)[[1]], "decision-boundary"))
page <- rarely_write(found, file.path(tempdir(), "review.html"))
html <- paste(readLines(page, warn = FALSE), collapse = "\n")
stopifnot(grepl("<!DOCTYPE html>", html, ignore.case = TRUE), grepl("treat from 130", html), grepl("clinical-policy.toml", html))
stopifnot(identical(readBin(rarely_write(figures[[1]], tempfile(fileext = ".png")), "raw", 4), as.raw(c(0x89, 0x50, 0x4e, 0x47))))
stopifnot(identical(readBin(rarely_write(figures[[1]], tempfile(fileext = ".pdf")), "raw", 4), charToRaw("%PDF")))
proposed <- rarely_document(rarely_write(found, tempfile(fileext = ".toml")))
stopifnot(any(grepl("130", proposed$rule)))
pdf(NULL)
plot(found)
plot(found, which = seq_along(figures))
invisible(dev.off())

# A review that was saved keeps its texts and tables.
saved <- tempfile()
saveRDS(found, saved)
kept <- readRDS(saved)
stopifnot(identical(as_seen(kept), as_seen(found)))
expect_problem(plot(kept), "rarely_argument_error", "another session", "help:")
