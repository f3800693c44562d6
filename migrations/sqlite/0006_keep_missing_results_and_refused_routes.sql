CREATE TABLE `route_trouble` (
	`provider` text NOT NULL,
	`upstream_model` text NOT NULL,
	`detail` text NOT NULL,
	`since` integer NOT NULL,
	PRIMARY KEY(`provider`, `upstream_model`)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `task` ADD `result_issues` text;