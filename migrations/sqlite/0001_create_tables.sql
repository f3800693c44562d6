CREATE TABLE `account` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`mode` text NOT NULL,
	`status` text NOT NULL,
	`balance_micros` integer NOT NULL,
	`held_micros` integer NOT NULL,
	`created_at` integer NOT NULL,
	CONSTRAINT "account_held" CHECK("account"."held_micros" between 0 and 9007199254740991),
	CONSTRAINT "account_balance" CHECK("account"."balance_micros" between -9007199254740991 and 9007199254740991),
	CONSTRAINT "account_prepaid" CHECK("account"."mode" = 'unlimited' or "account"."balance_micros" - "account"."held_micros" >= 0)
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `account_name_unique` ON `account` (`name`);--> statement-breakpoint
CREATE TABLE `api_key` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`display` text NOT NULL,
	`created_at` integer NOT NULL,
	`expires_at` integer,
	`revoked_at` integer,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `api_key_hash_unique` ON `api_key` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `api_key_name` ON `api_key` (`account_id`,`name`) WHERE "revoked_at" is null;--> statement-breakpoint
CREATE TABLE `asset` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`task_id` text NOT NULL,
	`role` text NOT NULL,
	`position` integer NOT NULL,
	`sha256` text NOT NULL,
	`size_bytes` integer NOT NULL,
	`type` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`duration_ms` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`task_id`) REFERENCES `task`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `asset_of_task` ON `asset` (`task_id`,`role`,`position`);--> statement-breakpoint
CREATE TABLE `attempt` (
	`id` text PRIMARY KEY NOT NULL,
	`task_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`provider` text NOT NULL,
	`upstream_model` text NOT NULL,
	`state` text NOT NULL,
	`operation` text,
	`outputs` text,
	`usage` text,
	`detail` text,
	`started_at` integer NOT NULL,
	`ended_at` integer,
	FOREIGN KEY (`task_id`) REFERENCES `task`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `attempt_of_task` ON `attempt` (`task_id`,`sequence`);--> statement-breakpoint
CREATE TABLE `callback` (
	`id` text PRIMARY KEY NOT NULL,
	`task_id` text NOT NULL,
	`request_id` text NOT NULL,
	`url` text NOT NULL,
	`attempts` integer NOT NULL,
	`state` text NOT NULL,
	`due_at` integer NOT NULL,
	FOREIGN KEY (`task_id`) REFERENCES `task`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `callback_task_id_unique` ON `callback` (`task_id`);--> statement-breakpoint
CREATE INDEX `callback_due` ON `callback` (`due_at`) WHERE "state" = 'due';--> statement-breakpoint
CREATE TABLE `callback_attempt` (
	`callback_id` text NOT NULL,
	`sequence` integer NOT NULL,
	`started_at` integer NOT NULL,
	`ended_at` integer,
	`outcome` text,
	`http_status` integer,
	`reason` text,
	PRIMARY KEY(`callback_id`, `sequence`),
	FOREIGN KEY (`callback_id`) REFERENCES `callback`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `idempotency` (
	`id` integer PRIMARY KEY NOT NULL,
	`digest` blob NOT NULL,
	`fingerprint` text NOT NULL,
	`task_id` text NOT NULL,
	`held_micros` integer NOT NULL,
	`expires_at` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE TABLE `idempotency_index` (
	`digest` blob PRIMARY KEY NOT NULL,
	`id` integer NOT NULL
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `idempotency_merge` (
	`merged_id` integer NOT NULL
) STRICT;
--> statement-breakpoint
INSERT INTO `idempotency_merge` VALUES (0);--> statement-breakpoint
CREATE TABLE `ledger_entry` (
	`id` integer PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`task_id` text,
	`kind` text NOT NULL,
	`balance_delta_micros` integer NOT NULL,
	`held_delta_micros` integer NOT NULL,
	`reason` text NOT NULL,
	`at` integer NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_entry_once` ON `ledger_entry` (`account_id`,`task_id`,`kind`);--> statement-breakpoint
CREATE TABLE `management_token` (
	`id` text PRIMARY KEY NOT NULL,
	`name` text NOT NULL,
	`hash` text NOT NULL,
	`display` text NOT NULL,
	`created_at` integer NOT NULL,
	`revoked_at` integer
) STRICT;
--> statement-breakpoint
CREATE UNIQUE INDEX `management_token_hash_unique` ON `management_token` (`hash`);--> statement-breakpoint
CREATE UNIQUE INDEX `management_token_name` ON `management_token` (`name`) WHERE "revoked_at" is null;--> statement-breakpoint
CREATE TABLE `task` (
	`id` text PRIMARY KEY NOT NULL,
	`account_id` text NOT NULL,
	`key_id` text NOT NULL,
	`request_id` text NOT NULL,
	`kind` text NOT NULL,
	`model` text NOT NULL,
	`origin` text NOT NULL,
	`callback_url` text,
	`held_micros` integer NOT NULL,
	`created_at` integer NOT NULL,
	`status` text NOT NULL,
	`stage` text NOT NULL,
	`pool` text,
	`due_at` integer,
	`lease_token` text,
	`lane` text NOT NULL,
	`route_index` integer NOT NULL,
	`attempts` integer NOT NULL,
	`failures` integer NOT NULL,
	`progress` integer NOT NULL,
	`cancel_requested` integer NOT NULL,
	`started_at` integer,
	`deadline_at` integer,
	`completed_at` integer,
	`charged_micros` integer,
	`results` text,
	`error` text,
	`usage` text,
	`quote` text NOT NULL,
	`request` text NOT NULL,
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "task_pool" CHECK(("pool" is null) = ("stage" = 'terminal') and ("due_at" is null) = ("pool" is null)),
	CONSTRAINT "task_queued" CHECK("pool" is null or "pool" = 'under_way' or ("stage" = 'queued' and "lease_token" is null))
) STRICT;
--> statement-breakpoint
CREATE INDEX `task_of_account` ON `task` (`account_id`,`id`,`status`,`kind`,`model`);--> statement-breakpoint
CREATE INDEX `task_under_way` ON `task` (`due_at`,`lane`) WHERE "pool" = 'under_way';--> statement-breakpoint
CREATE INDEX `task_ready` ON `task` (`lane`,`account_id`,`id`) WHERE "pool" = 'ready';--> statement-breakpoint
CREATE INDEX `task_waiting` ON `task` (`lane`,`due_at`) WHERE "pool" = 'waiting';--> statement-breakpoint
CREATE TRIGGER `ledger_entry_is_not_changed` BEFORE UPDATE ON `ledger_entry` BEGIN
	SELECT RAISE(ABORT, 'ledger entries are never changed');
END;--> statement-breakpoint
CREATE TRIGGER `ledger_entry_is_not_removed` BEFORE DELETE ON `ledger_entry` BEGIN
	SELECT RAISE(ABORT, 'ledger entries are never removed');
END;--> statement-breakpoint
CREATE TRIGGER `task_end_is_final` BEFORE UPDATE ON `task` WHEN old.`stage` = 'terminal' BEGIN
	SELECT RAISE(ABORT, 'a finished task never changes');
END;
