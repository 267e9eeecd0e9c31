# Files of SAS, which no Python package writes: the hospital of tests/data/sources/tables.py twice, and one table of all that can go wrong.
# Run in this folder:  Rscript sas.R   (haven 2.5.1; in a UTF-8 locale)

library(haven)

hospital <- function(rows, shift) {
  i <- shift + seq_len(rows) - 1
  data.frame(
    age = 40 + (7 * i) %% 37,
    chol = ifelse(i %% 11 == 3, NA, round(180 + (i * i) %% 83 / 7 + (7 * i) %% 37 / 3, 3)),
    stage = ifelse(i %% 13 == 5, NA, 1 + (i * i) %% 3),
    sex = ifelse((i * 5) %% 7 < 3, "f", "m")
  )
}

all_kinds <- function() {
  table <- data.frame(
    age = c(61.5, NA, 70),
    visits = c(1, 2, 3),
    ward = c("A 1", "", "B"),
    town = c("M\u00fcnster", "\u0141\u00f3d\u017a", "K\u00f6ln"),
    born = as.Date(c("1961-05-04", NA, "1970-01-01")),
    seen = as.POSIXct(c("2020-01-02 03:04:05", NA, "2020-01-02 00:00:00"), tz = "UTC")
  )
  table$dose <- c(tagged_na("A"), 1.5, tagged_na("Z"))               # SAS writes .A and .Z
  table$grade <- labelled(c(1, 2, NA), c(low = 1, high = 2), "Grade")  # the labels themselves are not written: SAS keeps them elsewhere
  attr(table$age, "label") <- "Age in years"
  table
}

# write_sas is deprecated since SAS itself reads few of its files; the programs that read SAS's files read these
write <- function(table, name) suppressWarnings(write_sas(table, file.path("data", name)))
write(hospital(60, 0), "hospital-60.sas7bdat")
write(hospital(50, 100), "hospital-50.sas7bdat")
write(all_kinds(), "all-kinds.sas7bdat")
