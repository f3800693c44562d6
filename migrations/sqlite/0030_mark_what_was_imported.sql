CREATE TABLE `import_mark` (
	`source` text NOT NULL,
	`kind` text NOT NULL,
	`origin` text NOT NULL,
	`target` text NOT NULL,
	PRIMARY KEY(`source`, `kind`, `origin`)
) STRICT, WITHOUT ROWID;
