"""The pages of the site's app: the task list, and one module a step."""
