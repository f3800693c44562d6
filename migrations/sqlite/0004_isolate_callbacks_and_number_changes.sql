PRAGMA foreign_keys=OFF;--> statement-breakpoint
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
	FOREIGN KEY (`task_id`) REFERENCES `task`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "callback_attempts" CHECK("attempts" between 0 and 5 and "attempts" <= "sends"),
	CONSTRAINT "callback_pool" CHECK("pool" is not null or ("state" <> 'pending' and "redeliver" = 0))
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_callback`("id", "task_id", "account_id", "key_id", "request_id", "url", "host", "state", "pool", "due_at", "attempts", "sends", "redeliver", "created_at")
SELECT c."id", c."task_id", t."account_id", t."key_id", c."request_id", c."url",
	CASE instr(substr(c."url", instr(c."url", '://') + 3), '/')
		WHEN 0 THEN substr(c."url", instr(c."url", '://') + 3)
		ELSE substr(c."url", instr(c."url", '://') + 3, instr(substr(c."url", instr(c."url", '://') + 3), '/') - 1)
	END,
	CASE c."state" WHEN 'due' THEN 'pending' WHEN 'dead' THEN 'failed' ELSE c."state" END,
	CASE c."state" WHEN 'due' THEN 'waiting' END,
	c."due_at", c."attempts", c."attempts", 0, coalesce(t."completed_at", t."created_at")
FROM `callback` c JOIN `task` t ON t."id" = c."task_id";--> statement-breakpoint
DROP TABLE `callback`;--> statement-breakpoint
ALTER TABLE `__new_callback` RENAME TO `callback`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `callback_task_id_unique` ON `callback` (`task_id`);--> statement-breakpoint
CREATE INDEX `callback_ready` ON `callback` (`account_id`,`host`,`due_at`,`id`) WHERE "pool" = 'ready';--> statement-breakpoint
CREATE INDEX `callback_waiting` ON `callback` (`due_at`) WHERE "pool" = 'waiting';--> statement-breakpoint
CREATE INDEX `callback_of_account` ON `callback` (`account_id`,`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `callback_of_state` ON `callback` (`account_id`,`state`,`created_at`,`id`);--> statement-breakpoint
ALTER TABLE `api_key` ADD `callback_secret` text;--> statement-breakpoint
ALTER TABLE `callback_attempt` ADD `is_redelivery` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
ALTER TABLE `callback_attempt` ADD `address` text;--> statement-breakpoint
ALTER TABLE `callback_attempt` ADD `excerpt` text;--> statement-breakpoint
CREATE INDEX `callback_attempt_open` ON `callback_attempt` (`callback_id`) WHERE "ended_at" is null;--> statement-breakpoint
ALTER TABLE `task` ADD `change` integer DEFAULT 0 NOT NULL;--> statement-breakpoint
DROP TRIGGER `task_end_is_final`;--> statement-breakpoint
UPDATE `task` SET "change" = rowid;--> statement-breakpoint
CREATE TRIGGER `task_end_is_final` BEFORE UPDATE ON `task` WHEN old.`stage` = 'terminal' BEGIN
	SELECT RAISE(ABORT, 'a finished task never changes');
END;--> statement-breakpoint
CREATE INDEX `task_change` ON `task` (`account_id`,`change`);