# Reference values for tests with counts: glm(quasipoisson) and anova(test = "F").
# Run in this folder, after make_count_data.py:  Rscript counts.R
# Base R only; JSON is written by hand.

data <- read.csv(file.path("data", "counts.csv"), stringsAsFactors = TRUE)
counts <- c("N", "M", "L", "R")

# Each test is "x y | given".
tests <- c("N M |", "N M | A", "A N | B", "B M | A C", "C N | A", "E M | B", "E N | M", "L A | B", "L N | A", "L M | A E",
           "R A |", "R N | A", "R M | A C", "C L | A N", "A M | N", "E R | A")

control <- glm.control(epsilon = 1e-14, maxit = 200)

direction <- function(response, predictor, given) {
  used <- data
  # A site where nothing was counted is fitted exactly, and its rows say nothing on the dispersion.
  if (response %in% counts) {
    total <- tapply(used[[response]], used$site, sum)
    used <- droplevels(used[used$site %in% names(total)[total > 0], ])
  }
  small <- reformulate(c("site", given), response)
  large <- reformulate(c("site", given, predictor), response)
  if (response %in% counts) {
    loglik <- sapply(c(small, large), function(f) as.numeric(logLik(glm(f, poisson, used, control = control))))
    # Fitted again from where it ended: a deviance right to 14 digits has coefficients right to 7, and a Pearson sum too.
    again <- function(f) {
      m <- glm(f, quasipoisson, used, control = control)
      glm(f, quasipoisson, used, control = control, start = coef(m))
    }
    m0 <- again(small)
    m1 <- again(large)
    found <- anova(m0, m1, test = "F")
    return(sprintf(paste0('{"response": "%s", "predictor": "%s", "loglik_restricted": %.17g, "loglik_unrestricted": %.17g, ',
                          '"dispersion": %.17g, "residual_df": %d, "df": %d, "f": %.17g, "p": %.17g}'),
                   response, predictor, loglik[1], loglik[2], summary(m1)$dispersion, m1$df.residual, found$Df[2], found$F[2],
                   found[["Pr(>F)"]][2]))
  }
  fit <- if (response == "C") function(f) glm(f, binomial, used, control = control) else function(f) lm(f, used)
  loglik <- sapply(c(small, large), function(f) as.numeric(logLik(fit(f))))
  sprintf(paste0('{"response": "%s", "predictor": "%s", "loglik_restricted": %.17g, "loglik_unrestricted": %.17g, "df": %d}'),
          response, predictor, loglik[1], loglik[2], length(coef(fit(large))) - length(coef(fit(small))))
}

out <- NULL
for (test in tests) {
  part <- strsplit(sub(" *$", "", test), " +")[[1]]
  given <- part[-(1:3)]
  found <- NULL
  # a multinomial response is the other script's part
  for (d in list(part[1:2], part[2:1])) if (d[1] != "E") found <- c(found, direction(d[1], d[2], given))
  out <- c(out, sprintf('  {"x": "%s", "y": "%s", "given": [%s],\n   "directions": [%s]}', part[1], part[2],
                        paste0('"', given, '"', recycle0 = TRUE, collapse = ", "), paste0("\n    ", found, collapse = ",")))
}
writeLines(c(sprintf('{"header": {"R": "%s"},', getRversion()), ' "tests": [', paste(out, collapse = ",\n"), " ]}"), "counts.json")
