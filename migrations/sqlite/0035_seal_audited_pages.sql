CREATE TABLE `audit_seal` (
	`table_name` text NOT NULL,
	`page` integer NOT NULL,
	`generation` integer NOT NULL,
	`version` integer NOT NULL,
	`figures` text,
	PRIMARY KEY(`table_name`, `page`)
) STRICT, WITHOUT ROWID;
