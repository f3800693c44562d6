CREATE TABLE `usage_day` (
	`account_id` text NOT NULL,
	`day` integer NOT NULL,
	`key_id` text NOT NULL,
	`model` text NOT NULL,
	`completed` integer NOT NULL,
	`failed` integer NOT NULL,
	`cancelled` integer NOT NULL,
	`outputs` integer NOT NULL,
	`charged_micros` integer NOT NULL,
	PRIMARY KEY(`account_id`, `day`, `key_id`, `model`),
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `api_key` ADD `policy` text DEFAULT '{}' NOT NULL;--> statement-breakpoint
ALTER TABLE `api_key` ADD `previous_hash` text;--> statement-breakpoint
ALTER TABLE `api_key` ADD `previous_display` text;--> statement-breakpoint
ALTER TABLE `api_key` ADD `previous_expires_at` integer;--> statement-breakpoint
CREATE UNIQUE INDEX `api_key_previous` ON `api_key` (`previous_hash`) WHERE "previous_hash" is not null;--> statement-breakpoint
ALTER TABLE `task` ADD `sync_scope` text;--> statement-breakpoint
CREATE INDEX `task_live` ON `task` (`account_id`,`key_id`,`status`) WHERE "pool" is not null;