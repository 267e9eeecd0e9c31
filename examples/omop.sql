-- One row a person from an OMOP common data model (version 5.3 or 5.4), for PostgreSQL and DuckDB:
--
--   consilience check postgresql://reader@warehouse/cdm --query examples/omop.sql
--
-- person gives age and sex; measurement the latest value of each laboratory test, by its standard concept and in one unit only;
-- condition_occurrence whether a diagnosis was ever made, its descendants included. Concepts are numbers in OMOP's vocabulary:
-- change those below to what the study asks for, and the reference date to the study's.
WITH latest AS (
    SELECT person_id, measurement_concept_id, value_as_number,
           row_number() OVER (PARTITION BY person_id, measurement_concept_id ORDER BY measurement_date DESC, measurement_id DESC) AS place
    FROM measurement
    WHERE value_as_number IS NOT NULL
      AND (measurement_concept_id, unit_concept_id) IN (
          (3027114, 8840),  -- total cholesterol, mg/dl
          (3004249, 8876)   -- systolic blood pressure, mmHg
      )
),
laboratory AS (
    SELECT person_id,
           max(CASE WHEN measurement_concept_id = 3027114 THEN value_as_number END) AS cholesterol,
           max(CASE WHEN measurement_concept_id = 3004249 THEN value_as_number END) AS systolic
    FROM latest
    WHERE place = 1
    GROUP BY person_id
),
diabetes AS (
    SELECT DISTINCT c.person_id
    FROM condition_occurrence AS c
    JOIN concept_ancestor AS a ON a.descendant_concept_id = c.condition_concept_id
    WHERE a.ancestor_concept_id = 201826  -- type 2 diabetes mellitus
)
SELECT 2024 - p.year_of_birth AS age,
       CASE p.gender_concept_id WHEN 8507 THEN 'male' WHEN 8532 THEN 'female' END AS sex,
       l.cholesterol,
       l.systolic,
       d.person_id IS NOT NULL AS diabetes
FROM person AS p
LEFT JOIN laboratory AS l ON l.person_id = p.person_id
LEFT JOIN diabetes AS d ON d.person_id = p.person_id
ORDER BY p.person_id;
