-- in steps
CREATE TABLE `label` (
	`number` integer PRIMARY KEY NOT NULL,
	`text` text NOT NULL
) STRICT;
CREATE UNIQUE INDEX `label_text_unique` ON `label` (`text`);
CREATE TRIGGER `label_stays` BEFORE DELETE ON `label` BEGIN SELECT RAISE(ABORT, 'labels are never removed'); END;
CREATE TRIGGER `label_stays_as_it_is` BEFORE UPDATE ON `label` BEGIN SELECT RAISE(ABORT, 'labels never change'); END;
--> statement-breakpoint
CREATE TABLE `__new_account` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`name` text NOT NULL,
	`mode` text NOT NULL,
	`status` text NOT NULL,
	`balance_micros` integer NOT NULL,
	`held_micros` integer NOT NULL,
	`created_at` integer NOT NULL,
	`credit_limit_micros` integer DEFAULT 0 NOT NULL,
	`price_multiplier` integer DEFAULT 1000000 NOT NULL,
	`low_balance_micros` integer,
	`low_balance_told` integer DEFAULT 0 NOT NULL,
	`retain_outputs_sec` integer,
	`retain_inputs_sec` integer,
	`retain_callbacks_sec` integer,
	`retain_tasks_sec` integer,
	CONSTRAINT "account_held" CHECK("held_micros" between 0 and 9007199254740991),
	CONSTRAINT "account_balance" CHECK("balance_micros" between -9007199254740991 and 9007199254740991),
	CONSTRAINT "account_prepaid" CHECK("mode" = 'unlimited' or "balance_micros" - "held_micros" + "credit_limit_micros" >= 0)
) STRICT;
INSERT INTO `__new_account` (`number`, `id`, `name`, `mode`, `status`, `balance_micros`, `held_micros`, `created_at`, `credit_limit_micros`, `price_multiplier`, `low_balance_micros`, `low_balance_told`, `retain_outputs_sec`, `retain_inputs_sec`, `retain_callbacks_sec`, `retain_tasks_sec`) SELECT rowid, `id`, `name`, `mode`, `status`, `balance_micros`, `held_micros`, `created_at`, `credit_limit_micros`, `price_multiplier`, `low_balance_micros`, `low_balance_told`, `retain_outputs_sec`, `retain_inputs_sec`, `retain_callbacks_sec`, `retain_tasks_sec` FROM `account`;
DROP TABLE `account`;
ALTER TABLE `__new_account` RENAME TO `account`;
CREATE UNIQUE INDEX `account_id_unique` ON `account` (`id`);
CREATE UNIQUE INDEX `account_name_unique` ON `account` (`name`);
--> statement-breakpoint
-- for the rows of task
INSERT OR IGNORE INTO `label` (`text`)
	SELECT `key_id` FROM `task` WHERE rowid > ?1 AND rowid <= ?2
	UNION SELECT `model` FROM `task` WHERE rowid > ?1 AND rowid <= ?2
	UNION SELECT `origin` FROM `task` WHERE rowid > ?1 AND rowid <= ?2 AND `origin` <> '' GROUP BY `origin` HAVING count(*) > 1
	UNION SELECT `quote` FROM `task` WHERE rowid > ?1 AND rowid <= ?2 AND `status` <> 'removed' GROUP BY `quote` HAVING count(*) > 1
	UNION SELECT `usage` FROM `task` WHERE rowid > ?1 AND rowid <= ?2 AND `usage` IS NOT NULL GROUP BY `usage` HAVING count(*) > 1
	UNION SELECT `charge` FROM `task` WHERE rowid > ?1 AND rowid <= ?2 AND `charge` IS NOT NULL GROUP BY `charge` HAVING count(*) > 1;
--> statement-breakpoint
-- for the rows of attempt
INSERT OR IGNORE INTO `label` (`text`)
	SELECT `usage` FROM `attempt` WHERE rowid > ?1 AND rowid <= ?2 AND `usage` IS NOT NULL GROUP BY `usage` HAVING count(*) > 1;
--> statement-breakpoint
-- for the rows of ledger_entry
INSERT OR IGNORE INTO `label` (`text`)
	SELECT `reason` FROM `ledger_entry` WHERE rowid > ?1 AND rowid <= ?2
	UNION SELECT `actor` FROM `ledger_entry` WHERE rowid > ?1 AND rowid <= ?2;
--> statement-breakpoint
CREATE TABLE `__new_ledger_entry` (
	`id` integer PRIMARY KEY NOT NULL,
	`account_number` integer NOT NULL,
	`task_number` integer,
	`kind` text NOT NULL,
	`balance_delta_micros` integer NOT NULL,
	`held_delta_micros` integer NOT NULL,
	`at` integer NOT NULL,
	`reason_label` integer NOT NULL,
	`actor_label` integer NOT NULL,
	FOREIGN KEY (`account_number`) REFERENCES `account`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
-- for the rows of ledger_entry
INSERT INTO `__new_ledger_entry` (`id`, `account_number`, `task_number`, `kind`, `balance_delta_micros`, `held_delta_micros`, `at`,
	`reason_label`, `actor_label`)
	SELECT `id`, (SELECT `number` FROM `account` WHERE `account`.`id` = `account_id`),
		(SELECT `task`.rowid FROM `task` WHERE `task`.`id` = `task_id`), `kind`, `balance_delta_micros`, `held_delta_micros`, `at`,
		(SELECT `number` FROM `label` WHERE `text` = `reason`), (SELECT `number` FROM `label` WHERE `text` = `actor`)
	FROM `ledger_entry` WHERE rowid > ?1 AND rowid <= ?2;
--> statement-breakpoint
DROP TABLE `ledger_entry`;
ALTER TABLE `__new_ledger_entry` RENAME TO `ledger_entry`;
CREATE TRIGGER `ledger_entry_is_not_changed` BEFORE UPDATE ON `ledger_entry` BEGIN
	SELECT RAISE(ABORT, 'ledger entries are never changed');
END;
CREATE TRIGGER `ledger_entry_is_not_removed` BEFORE DELETE ON `ledger_entry` BEGIN
	SELECT RAISE(ABORT, 'ledger entries are never removed');
END;
--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_entry_once` ON `ledger_entry` (`account_number`,`task_number`,`kind`);
--> statement-breakpoint
CREATE TABLE `__new_asset` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_number` integer NOT NULL,
	`task_number` integer NOT NULL,
	`role` text NOT NULL,
	`position` integer NOT NULL,
	`sha256` blob NOT NULL,
	`size_bytes` integer NOT NULL,
	`type` text NOT NULL,
	`width` integer NOT NULL,
	`height` integer NOT NULL,
	`duration_ms` integer,
	`created_at` integer NOT NULL,
	FOREIGN KEY (`account_number`) REFERENCES `account`(`number`) ON UPDATE no action ON DELETE no action,
	FOREIGN KEY (`task_number`) REFERENCES `task`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
--> statement-breakpoint
-- for the rows of asset
INSERT INTO `__new_asset` (`number`, `id`, `account_number`, `task_number`, `role`, `position`, `sha256`, `size_bytes`, `type`, `width`, `height`, `duration_ms`, `created_at`)
	SELECT rowid, `id`, (SELECT `number` FROM `account` WHERE `account`.`id` = `account_id`),
		(SELECT `task`.rowid FROM `task` WHERE `task`.`id` = `task_id`), `role`, `position`, unhex(`sha256`), `size_bytes`, `type`, `width`, `height`, `duration_ms`, `created_at`
	FROM `asset` WHERE rowid > ?1 AND rowid <= ?2;
--> statement-breakpoint
DROP TABLE `asset`;
ALTER TABLE `__new_asset` RENAME TO `asset`;
--> statement-breakpoint
CREATE UNIQUE INDEX `asset_id_unique` ON `asset` (`id`);
--> statement-breakpoint
CREATE UNIQUE INDEX `asset_of_task` ON `asset` (`task_number`,`role`,`position`);
--> statement-breakpoint
CREATE INDEX `asset_of_content` ON `asset` (`sha256`);
--> statement-breakpoint
CREATE TABLE `__new_attempt` (
	`id` text PRIMARY KEY NOT NULL,
	`task_number` integer NOT NULL,
	`sequence` integer NOT NULL,
	`provider` text NOT NULL,
	`upstream_model` text NOT NULL,
	`state` text NOT NULL,
	`operation` text,
	`outputs` text,
	`usage` text,
	`usage_label` integer,
	`detail` text,
	`started_at` integer NOT NULL,
	`ended_at` integer,
	`cost_micros` integer,
	`accepted_at` integer,
	`made_at` integer,
	`terms` text,
	`considered` text,
	`trace` text,
	FOREIGN KEY (`task_number`) REFERENCES `task`(`number`) ON UPDATE no action ON DELETE no action
) STRICT;
-- These hold few rows, so that they are made first: each later one reads the whole table.
DROP INDEX `attempt_lost`;
DROP INDEX `attempt_cost`;
CREATE INDEX `attempt_lost` ON `__new_attempt` (`ended_at`) WHERE "state" = 'ambiguous';
CREATE INDEX `attempt_cost` ON `__new_attempt` (`ended_at`,`provider`,`upstream_model`,`cost_micros`) WHERE "cost_micros" is not null;
--> statement-breakpoint
-- for the rows of attempt
INSERT INTO `__new_attempt` (rowid, `id`, `task_number`, `sequence`, `provider`, `upstream_model`, `state`, `operation`, `outputs`,
	`usage`, `usage_label`, `detail`, `started_at`, `ended_at`, `cost_micros`, `accepted_at`, `made_at`, `terms`, `considered`, `trace`)
	SELECT `attempt`.rowid, `attempt`.`id`, `task`.rowid, `attempt`.`sequence`, `attempt`.`provider`, `attempt`.`upstream_model`, `attempt`.`state`, `attempt`.`operation`,
		iif(`task`.`stage` = 'terminal', NULL, `attempt`.`outputs`),
		iif(`used`.`number` IS NULL, `attempt`.`usage`, NULL), `used`.`number`, `attempt`.`detail`, `attempt`.`started_at`, `attempt`.`ended_at`, `attempt`.`cost_micros`, `attempt`.`accepted_at`, `attempt`.`made_at`, `attempt`.`terms`, `attempt`.`considered`, `attempt`.`trace`
	FROM `attempt` CROSS JOIN `task` ON `task`.`id` = `attempt`.`task_id`
		LEFT JOIN `label` AS `used` ON `used`.`text` = `attempt`.`usage`
	WHERE `attempt`.rowid > ?1 AND `attempt`.rowid <= ?2;
--> statement-breakpoint
DROP TABLE `attempt`;
ALTER TABLE `__new_attempt` RENAME TO `attempt`;
--> statement-breakpoint
CREATE UNIQUE INDEX `attempt_of_task` ON `attempt` (`task_number`,`sequence`);
--> statement-breakpoint
CREATE TABLE `__new_task` (
	`number` integer PRIMARY KEY NOT NULL,
	`id` text NOT NULL,
	`account_number` integer NOT NULL,
	`key_label` integer NOT NULL,
	`request_id` text NOT NULL,
	`kind` text NOT NULL,
	`model_label` integer NOT NULL,
	`origin` text,
	`origin_label` integer,
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
	`usage_label` integer,
	`quote` text,
	`quote_label` integer,
	`request` text NOT NULL,
	`sync_scope` text,
	`quota_period` integer,
	`charge` text,
	`charge_label` integer,
	`change` integer DEFAULT 0 NOT NULL,
	`result_issues` text,
	`setup` text DEFAULT '' NOT NULL,
	`retain_sec` integer,
	`files_removed_at` integer,
	FOREIGN KEY (`account_number`) REFERENCES `account`(`number`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "task_pool" CHECK(("pool" is null) = ("stage" = 'terminal') and ("due_at" is null) = ("pool" is null)),
	CONSTRAINT "task_queued" CHECK("pool" is null or "pool" = 'under_way' or ("stage" = 'queued' and "lease_token" is null))
) STRICT;
-- These hold few rows, so that they are made first: each later one reads the whole table.
DROP INDEX `task_under_way`;
DROP INDEX `task_ready`;
DROP INDEX `task_waiting`;
DROP INDEX `task_waited_for`;
DROP INDEX `task_files_due`;
DROP INDEX `task_live`;
CREATE INDEX `task_under_way` ON `__new_task` (`due_at`,`lane`) WHERE "pool" = 'under_way';
CREATE INDEX `task_ready` ON `__new_task` (`lane`,`setup`,`account_number`,`id`) WHERE "pool" = 'ready';
CREATE INDEX `task_waiting` ON `__new_task` (`lane`,`due_at`) WHERE "pool" = 'waiting';
CREATE INDEX `task_waited_for` ON `__new_task` (`id`) WHERE "pool" is not null and "sync_scope" is not null;
CREATE INDEX `task_files_due` ON `__new_task` ("completed_at" + "retain_sec" * 1000) WHERE "retain_sec" is not null and "files_removed_at" is null;
CREATE INDEX `task_live` ON `__new_task` (`account_number`,`status`,`key_label`,`kind`,`model_label`,`id`) WHERE status in ('pending', 'processing');
--> statement-breakpoint
-- for the rows of task
INSERT INTO `__new_task` (`number`, `id`, `account_number`, `key_label`, `request_id`, `kind`, `model_label`, `origin`, `origin_label`,
	`callback_url`, `held_micros`, `created_at`, `status`, `stage`, `pool`, `due_at`, `lease_token`, `lane`, `route_index`,
	`attempts`, `failures`, `progress`, `cancel_requested`, `started_at`, `deadline_at`, `completed_at`, `charged_micros`,
	`results`, `error`, `usage`, `usage_label`, `quote`, `quote_label`, `request`,
	`sync_scope`, `quota_period`, `charge`, `charge_label`, `change`, `result_issues`, `setup`, `retain_sec`, `files_removed_at`)
	SELECT `task`.rowid, `task`.`id`, (SELECT `number` FROM `account` WHERE `account`.`id` = `account_id`), (SELECT `number` FROM `label` WHERE `text` = `key_id`),
		`request_id`, `kind`, (SELECT `number` FROM `label` WHERE `text` = `model`), iif(`at`.`number` IS NULL, nullif(`origin`, ''), NULL), `at`.`number`,
		`callback_url`, `held_micros`, `created_at`, `status`, `stage`, `pool`, `due_at`, `lease_token`, `lane`, `route_index`,
		`attempts`, `failures`, `progress`, `cancel_requested`, `started_at`, `deadline_at`, `completed_at`, `charged_micros`,
		`results`, `error`, iif(`used`.`number` IS NULL, `usage`, NULL), `used`.`number`,
		iif(`quoted`.`number` IS NULL AND `status` <> 'removed', `quote`, NULL), `quoted`.`number`,
		json_remove(`request`, '$.kind', iif(json_array_length(`request`, '$.inputs') = 0, '$.inputs', '$.kind'), '$.model'),
		`sync_scope`, `quota_period`, iif(`charged`.`number` IS NULL, `charge`, NULL), `charged`.`number`, `change`, `result_issues`, `setup`, `retain_sec`, `files_removed_at`
	FROM `task` LEFT JOIN `label` AS `quoted` ON `quoted`.`text` = `quote`
		LEFT JOIN `label` AS `at` ON `at`.`text` = `origin` LEFT JOIN `label` AS `used` ON `used`.`text` = `usage`
		LEFT JOIN `label` AS `charged` ON `charged`.`text` = `charge`
	WHERE `task`.rowid > ?1 AND `task`.rowid <= ?2;
--> statement-breakpoint
DROP TABLE `task`;
ALTER TABLE `__new_task` RENAME TO `task`;
-- What the books add up stays for ever. The rest of an ended task can only go, and what is wrong with its files can be noted.
CREATE TRIGGER `task_end_is_final` BEFORE UPDATE ON `task` WHEN old.`stage` = 'terminal' AND NOT (
	new.`number` = old.`number` AND new.`id` = old.`id` AND new.`account_number` = old.`account_number` AND new.`key_label` = old.`key_label`
	AND new.`kind` = old.`kind` AND new.`model_label` = old.`model_label` AND new.`lane` = old.`lane` AND new.`stage` = old.`stage`
	AND new.`pool` IS NULL AND new.`held_micros` = old.`held_micros` AND new.`charged_micros` IS old.`charged_micros`
	AND new.`charge` IS old.`charge` AND new.`charge_label` IS old.`charge_label` AND new.`quota_period` IS old.`quota_period` AND new.`created_at` = old.`created_at`
	AND new.`completed_at` IS old.`completed_at` AND new.`attempts` = old.`attempts` AND abs(new.`change`) = abs(old.`change`)
	AND coalesce(json_array_length(new.`results`), 0) = coalesce(json_array_length(old.`results`), 0)
	AND (new.`status` = 'removed' OR (
		new.`status` = old.`status` AND new.`change` = old.`change` AND new.`request` = old.`request` AND new.`quote` IS old.`quote`
		AND new.`quote_label` IS old.`quote_label` AND new.`results` IS old.`results` AND new.`error` IS old.`error`
		AND new.`usage` IS old.`usage` AND new.`usage_label` IS old.`usage_label` AND new.`progress` = old.`progress` AND new.`request_id` = old.`request_id`
		AND new.`origin` IS old.`origin` AND new.`origin_label` IS old.`origin_label`
		AND (new.`callback_url` IS old.`callback_url` OR new.`callback_url` IS NULL)
	))
) BEGIN
	SELECT RAISE(ABORT, 'a finished task never changes');
END;
--> statement-breakpoint
CREATE UNIQUE INDEX `task_id_unique` ON `task` (`id`);
--> statement-breakpoint
CREATE INDEX `task_ended` ON `task` (`account_number`,`status`,`kind`,`model_label`,`id`) WHERE status in ('completed', 'failed', 'cancelled');
--> statement-breakpoint
CREATE INDEX `task_ended_of_all` ON `task` (`status`,`kind`,`model_label`,`id`) WHERE status in ('completed', 'failed', 'cancelled');
--> statement-breakpoint
CREATE INDEX `task_change` ON `task` (`account_number`,`change`);
