CREATE TABLE `key_quota` (
	`key_id` text NOT NULL,
	`period` integer NOT NULL,
	`used_micros` integer NOT NULL,
	`reserved_micros` integer NOT NULL,
	PRIMARY KEY(`key_id`, `period`),
	FOREIGN KEY (`key_id`) REFERENCES `api_key`(`id`) ON UPDATE no action ON DELETE no action,
	CONSTRAINT "key_quota_used" CHECK("used_micros" >= 0 and "reserved_micros" >= 0)
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
CREATE TABLE `price_override` (
	`model` text PRIMARY KEY NOT NULL,
	`rule` text NOT NULL,
	`set_at` integer NOT NULL,
	`reason` text NOT NULL
) STRICT;
--> statement-breakpoint
PRAGMA foreign_keys=OFF;--> statement-breakpoint
CREATE TABLE `__new_account` (
	`id` text PRIMARY KEY NOT NULL,
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
	CONSTRAINT "account_held" CHECK("held_micros" between 0 and 9007199254740991),
	CONSTRAINT "account_balance" CHECK("balance_micros" between -9007199254740991 and 9007199254740991),
	CONSTRAINT "account_prepaid" CHECK("mode" = 'unlimited' or "balance_micros" - "held_micros" + "credit_limit_micros" >= 0)
) STRICT;
--> statement-breakpoint
INSERT INTO `__new_account`("id", "name", "mode", "status", "balance_micros", "held_micros", "created_at") SELECT "id", "name", "mode", "status", "balance_micros", "held_micros", "created_at" FROM `account`;--> statement-breakpoint
DROP TABLE `account`;--> statement-breakpoint
ALTER TABLE `__new_account` RENAME TO `account`;--> statement-breakpoint
PRAGMA foreign_keys=ON;--> statement-breakpoint
CREATE UNIQUE INDEX `account_name_unique` ON `account` (`name`);--> statement-breakpoint
ALTER TABLE `attempt` ADD `cost_micros` integer;--> statement-breakpoint
ALTER TABLE `ledger_entry` ADD `actor` text DEFAULT 'system' NOT NULL;--> statement-breakpoint
ALTER TABLE `task` ADD `quota_period` integer;--> statement-breakpoint
ALTER TABLE `task` ADD `charge` text;--> statement-breakpoint
CREATE INDEX `task_waited_for` ON `task` (`id`) WHERE "pool" is not null and "sync_scope" is not null;