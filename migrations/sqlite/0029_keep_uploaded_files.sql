CREATE TABLE `upload` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_number` integer NOT NULL,
	`name` text,
	`sha256` blob NOT NULL,
	`size_bytes` integer NOT NULL,
	`type` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`duration_ms` integer,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL,
	FOREIGN KEY (`account_number`) REFERENCES `account`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `upload_id_unique` ON `upload` (`id`);--> statement-breakpoint
CREATE INDEX `upload_of_account` ON `upload` (`account_number`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `upload_by_time` ON `upload` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `upload_expiry` ON `upload` (`expires_at`);--> statement-breakpoint
CREATE INDEX `upload_of_content` ON `upload` (`sha256`);--> statement-breakpoint
CREATE TABLE `upload_total` (
	`account_number` integer PRIMARY KEY NOT NULL,
	`files` integer NOT NULL,
	`bytes` integer NOT NULL,
	FOREIGN KEY (`account_number`) REFERENCES `account`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
