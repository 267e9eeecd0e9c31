# Reference values for tests with random site effects: mixed models of pooled rows, by maximum likelihood.
# Run in this folder, after make_random_data.py:  Rscript random.R
# lme4::lmer (REML = FALSE), lme4::glmer and ordinal::clmm (adaptive Gauss-Hermite, 25 points); JSON is written by hand.

suppressPackageStartupMessages({library(lme4); library(ordinal)})

kind <- function(v) switch(substr(v, 1, 1), C = "binary", D = "ordinal", E = "multinomial", "continuous")

tests <- c("A B |", "A B | G", "A G |", "B G | A", "A F |", "F C3 |", "F E | C", "A C |", "A C | F", "C C2 | F", "C2 F |",
           "C3 A |", "C3 D2 | A", "C G | A", "D F |", "D F | C", "D A | C E", "D2 C |", "D2 A | E", "D G |", "D E | F",
           "B D | A F", "C E | A F", "C3 E |")

data <- read.csv("data/random.csv", stringsAsFactors = TRUE)
for (v in names(data)) if (kind(v) == "ordinal") data[[v]] <- factor(data[[v]])
singular <- function(e) { if (grepl("singular", conditionMessage(e))) invokeRestart("muffleMessage") }

# Several optimisers, the highest likelihood: each stops a little early now and then.
loglik <- function(response, terms) {
  model <- reformulate(c("1", terms, "(1 | site)"), if (kind(response) == "ordinal") "y" else response)
  best <- function(fits) max(vapply(fits, function(f) tryCatch(as.numeric(logLik(withCallingHandlers(f(), message = singular))),
                                                              error = function(e) -Inf), 0))
  if (kind(response) == "continuous")
    return(best(lapply(c("bobyqa", "Nelder_Mead"), function(o) function()
      lmer(model, data, REML = FALSE, control = lmerControl(o, optCtrl = if (o == "bobyqa") list(rhoend = 1e-10) else list(),
           check.conv.grad = "ignore", check.conv.hess = "ignore")))))
  if (kind(response) == "binary")
    return(best(lapply(c("bobyqa", "Nelder_Mead"), function(o) function()
      glmer(model, data, binomial, nAGQ = 25, control = glmerControl(o, tolPwrss = 1e-12, optCtrl =
              if (o == "bobyqa") list(rhoend = 1e-9) else list(), check.conv.grad = "ignore", check.conv.hess = "ignore")))))
  data$y <- data[[response]]
  model <- reformulate(c("1", terms, "(1 | site)"), "y")
  as.numeric(logLik(clmm(model, data, nAGQ = 25, control = clmm.control(gradTol = 1e-8, maxIter = 200))))
}

direction <- function(response, predictor, given) {
  ll <- c(loglik(response, given), loglik(response, c(given, predictor)))
  columns <- function(terms) ncol(model.matrix(reformulate(c("1", terms)), data))
  sprintf(paste0('{"response": "%s", "predictor": "%s", "loglik_restricted": %.17g, ',
                 '"loglik_unrestricted": %.17g, "statistic": %.17g, "df": %d}'),
          response, predictor, ll[1], ll[2], 2 * (ll[2] - ll[1]), columns(c(given, predictor)) - columns(given))
}

out <- NULL
for (test in tests) {
  part <- strsplit(sub(" *$", "", test), " +")[[1]]
  given <- part[-(1:3)]
  found <- NULL
  # G has no variance within sites, and R has no multinomial model with random effects: neither is a response here.
  for (d in list(part[1:2], part[2:1])) if (!d[1] %in% c("E", "G")) found <- c(found, direction(d[1], d[2], given))
  out <- c(out, sprintf('{"x": "%s", "y": "%s", "given": [%s], "directions": [\n    %s]}', part[1], part[2],
                        paste0('"', given, '"', recycle0 = TRUE, collapse = ", "), paste(found, collapse = ",\n    ")))
}

version <- function(p) as.character(packageVersion(p))
writeLines(c(
  sprintf('{"header": {"R": "%s", "lme4": "%s", "ordinal": "%s"},', getRversion(), version("lme4"), version("ordinal")),
  ' "tests": [', paste0("  ", out, collapse = ",\n"), " ]}"), "random.json")
