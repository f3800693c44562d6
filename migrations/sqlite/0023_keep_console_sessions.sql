CREATE TABLE `console_session` (
	`id` text PRIMARY KEY NOT NULL,
	`hash` text NOT NULL,
	`kind` text NOT NULL,
	`grant_hash` text NOT NULL,
	`holder` text NOT NULL,
	`holder_name` text NOT NULL,
	`is_link` integer NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `console_session_hash_unique` ON `console_session` (`hash`);--> statement-breakpoint
CREATE INDEX `console_session_expiry` ON `console_session` (`expires_at`);