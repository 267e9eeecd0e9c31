# Reference values for likelihood-ratio conditional independence tests.
# Run in this folder, after make_data.py:  Rscript reference.R
# Base R, ordinal and VGAM only; JSON is written by hand to need nothing more.

suppressPackageStartupMessages({library(ordinal); library(VGAM)})

kind <- function(v) switch(substr(v, 1, 1), C = "binary", D = "ordinal",
                           E = "multinomial", "continuous")

# Each test is "x y | given".
tests <- list(
  base = c("A B |", "A C | B", "A D | E", "A E | B C", "B D |", "B E | C D",
           "C D | A", "C E |", "D E | A C", "D A | B",
           # pairs of one kind
           "C C2 | A", "D D2 | B E", "E E2 | D"),
  empty_level = c("A B | D", "A C | E", "A D |", "A E | D", "B D | E", "B C | D E",
                  "C D | B", "C E | A D", "D E |", "D E | A B"),
  level_missing_at_site = c("A B | E", "A C | D", "A D | B", "A E |", "B D | C E",
                            "C D | E", "C E | A", "D E |", "D E | A C", "C E | B D"),
  # F lies in the span of A and B, G in that of site: some tests have df 0.
  collinear = c("A F | G", "A C | F", "C F | A B", "D F | A", "D F | A B", "E F | B G",
                "E F | A B", "C G | A", "D G | E", "E G | B", "D E | A F",
                "D E | A B F", "C E | F G"),
  middle = c("A B |", "A C | D", "A D |", "A D | B C", "B D | A", "B E | D",
             "C D | A", "C E | B D", "D E |", "D E | A B"),
  # With a slope per threshold the sites with one level of D2 say nothing, and R's
  # thresholds there run away: common slopes only.
  same_middle = c("A D2 |", "A D2 | B", "C D2 | A", "B D2 | A C", "E D2 | A", "D D2 | B"))

# Design matrix without redundant columns, since vglm refuses those. Categorical
# predictors, ordinal ones too, enter as indicators of their observed levels.
design <- function(terms, data) {
  X <- model.matrix(reformulate(c("site", terms)), data)
  q <- qr(X)
  X[, sort(q$pivot[seq_len(q$rank)]), drop = FALSE]
}

# Stop unless one more Newton step would gain next to nothing. Judged by the
# likelihood and not by the coefficients, because the intercept of a level absent
# at a site diverges; the gain left along it is of the size of this same bound.
at_maximum <- function(score, fit) {
  gain <- sum(score * (vcov(fit) %*% score)) / 2
  if (!is.finite(gain) || gain > 1e-8) stop("no convergence, gain left ", format(gain))
}

loglik <- function(y, X, model) {
  Z <- X[, -1, drop = FALSE]
  if (model == "continuous") {
    if (qr(cbind(X, y))$rank == ncol(X))
      stop("response is a linear function of the predictors, likelihood unbounded")
    return(as.numeric(logLik(lm(y ~ Z))))          # maximum likelihood, not REML
  }
  if (model == "binary") {
    fit <- glm(y ~ Z, family = binomial, epsilon = 1e-14, maxit = 100)
    at_maximum(crossprod(X, y - fitted(fit)), fit)
    return(as.numeric(logLik(fit)))
  }
  if (model == "proportional") {
    fit <- clm(ordered(y) ~ Z, control = clm.control(gradTol = 1e-10, maxIter = 200))
    at_maximum(fit$gradient, fit)
    return(as.numeric(logLik(fit)))
  }
  # Two warnings are expected and silenced: working weights at their floor where a
  # level is absent at a site, and half-steps too small once at the maximum. The
  # checks below decide.
  fit <- suppressWarnings(
    if (model == "multinomial") vglm(y ~ Z, multinomial(refLevel = 1), epsilon = 1e-12, maxit = 200)
    else vglm(ordered(y) ~ Z, cumulative(parallel = FALSE), epsilon = 1e-12, maxit = 200))
  Y <- outer(y, levels(y), "==") + 0               # indicators, levels in order
  P <- fitted(fit)
  if (any(P <= 0)) stop("a fitted cell probability is not positive")
  score <- if (model == "multinomial") (Y - P)[, -1]
    else dlogis(predict(fit)) * ((Y / P)[, -ncol(Y)] - (Y / P)[, -1])
  at_maximum(c(crossprod(score, X)), fit)          # coefficients run over levels first
  as.numeric(logLik(fit))
}

direction <- function(data, response, predictor, given, ordinal) {
  y <- data[[response]]
  model <- if (kind(response) == "ordinal") ordinal else kind(response)
  X0 <- design(given, data)
  X1 <- design(c(given, predictor), data)
  ll0 <- loglik(y, X0, model)
  ll1 <- loglik(y, X1, model)
  # One set of slopes per contrast between observed levels.
  sets <- if (model %in% c("multinomial", "generalized")) nlevels(y) - 1 else 1
  sprintf(paste0('{"response": "%s", "predictor": "%s", "loglik_restricted": %.17g, ',
                 '"loglik_unrestricted": %.17g, "statistic": %.17g, "df": %d}'),
          response, predictor, ll0, ll1, 2 * (ll1 - ll0), sets * (ncol(X1) - ncol(X0)))
}

entry <- function(case, data, x, y, given, ordinal) {
  found <- skipped <- NULL
  for (d in list(c(x, y), c(y, x))) {
    # What cannot be fitted is recorded with the reason, such as G as a response.
    got <- tryCatch(direction(data, d[1], d[2], given, ordinal), error = identity)
    if (is.character(got)) found <- c(found, got)
    else skipped <- c(skipped, sprintf(
      '{"response": "%s", "predictor": "%s", "reason": "%s"}', d[1], d[2],
      gsub('["\n\\]', " ", conditionMessage(got))))
  }
  sprintf(paste0('{"case": "%s", "x": "%s", "y": "%s", "given": [%s], "ordinal": "%s",\n',
                 '   "directions": [%s]%s}'),
          case, x, y, paste0('"', given, '"', recycle0 = TRUE, collapse = ", "), ordinal,
          paste0("\n    ", found, recycle0 = TRUE, collapse = ","),
          if (is.null(skipped)) "" else
            sprintf(',\n   "skipped": [\n    %s]', paste(skipped, collapse = ",\n    ")))
}

out <- NULL
for (case in names(tests)) {
  data <- read.csv(file.path("data", paste0(case, ".csv")), stringsAsFactors = TRUE)
  for (v in names(data)) if (kind(v) == "ordinal") data[[v]] <- factor(data[[v]])
  for (test in tests[[case]]) {
    part <- strsplit(sub(" *$", "", test), " +")[[1]]
    given <- part[-(1:3)]
    modes <- if (case != "same_middle" && "ordinal" %in% c(kind(part[1]), kind(part[2])))
      c("proportional", "generalized") else "proportional"
    for (m in modes) out <- c(out, entry(case, data, part[1], part[2], given, m))
  }
}

version <- function(p) as.character(packageVersion(p))
writeLines(c(
  sprintf('{"header": {"R": "%s", "ordinal": "%s", "VGAM": "%s"},',
          getRversion(), version("ordinal"), version("VGAM")),
  ' "tests": [', paste0("  ", out, collapse = ",\n"), " ]}"), "reference.json")
