-- in steps
ALTER TABLE `task` ADD `callback_terms` text;
--> statement-breakpoint
CREATE TABLE `__new_callback` (
	`id` text PRIMARY KEY NOT NULL,
	`task_id` text NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`request_id` text NOT NULL,
	`url` text NOT NULL,
	`host` text NOT NULL,
	`state` text NOT NULL,
	`pool` text,
	`due_at` integer NOT NULL,
	`attempts` integer NOT NULL,
	`sends` integer NOT NULL,
	`redeliver` integer NOT NULL,
	`created_at` integer NOT NULL,
	`event` text NOT NULL,
	`form` text,
	`most_attempts` integer,
	FOREIGN KEY (`task_id`) REFERENCES `task`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "callback_attempts" CHECK("attempts" between 0 and coalesce("most_attempts", 5) and "attempts" <= "sends"),
	CONSTRAINT "callback_pool" CHECK("pool" is not null or ("state" <> 'pending' and "redeliver" = 0))
) STRICT;
-- These hold few rows, so that they are made first: each later one reads the whole table.
DROP INDEX `callback_ready`;
DROP INDEX `callback_waiting`;
DROP INDEX `callback_failed`;
CREATE INDEX `callback_ready` ON `__new_callback` (`account_id`,`host`,`due_at`,`id`) WHERE "pool" = 'ready';
CREATE INDEX `callback_waiting` ON `__new_callback` (`due_at`) WHERE "pool" = 'waiting';
CREATE INDEX `callback_failed` ON `__new_callback` (`created_at`,`id`) WHERE "state" = 'failed';
--> statement-breakpoint
-- for the rows of callback
INSERT INTO `__new_callback` (rowid, `id`, `task_id`, `account_id`, `key_id`, `request_id`, `url`, `host`, `state`, `pool`, `due_at`,
	`attempts`, `sends`, `redeliver`, `created_at`, `event`)
	SELECT `callback`.rowid, `callback`.`id`, `task_id`, `callback`.`account_id`, `callback`.`key_id`, `callback`.`request_id`, `url`, `host`,
		`callback`.`state`, `callback`.`pool`, `callback`.`due_at`, `callback`.`attempts`, `sends`, `redeliver`, `callback`.`created_at`,
		(SELECT `status` FROM `task` WHERE `task`.`id` = `task_id`)
	FROM `callback` WHERE `callback`.rowid > ?1 AND `callback`.rowid <= ?2;
--> statement-breakpoint
DROP TABLE `callback`;
ALTER TABLE `__new_callback` RENAME TO `callback`;
--> statement-breakpoint
CREATE INDEX `callback_of_task` ON `callback` (`task_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `callback_of_account` ON `callback` (`account_id`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `callback_of_state` ON `callback` (`account_id`,`state`,`created_at`,`id`);
--> statement-breakpoint
CREATE INDEX `callback_of_time` ON `callback` (`created_at`,`id`);
