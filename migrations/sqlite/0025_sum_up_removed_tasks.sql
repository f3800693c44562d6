CREATE TABLE `books_day` (
	`account_number` integer NOT NULL,
	`day` integer NOT NULL,
	`key_label` integer NOT NULL,
	`model_label` integer NOT NULL,
	`provider` text NOT NULL,
	`quota_period` integer NOT NULL,
	`tasks` integer NOT NULL,
	`completed` integer NOT NULL,
	`outputs` integer NOT NULL,
	`charged_micros` integer NOT NULL,
	`costed` integer NOT NULL,
	`cost_micros` integer NOT NULL,
	`charged_here_micros` integer NOT NULL,
	`charged_once_micros` integer NOT NULL,
	`resubmitted` integer NOT NULL,
	PRIMARY KEY(`account_number`, `day`, `key_label`, `model_label`, `provider`, `quota_period`),
	FOREIGN KEY (`account_number`) REFERENCES `account`(`number`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
--> statement-breakpoint
ALTER TABLE `ledger_entry` ADD `entries` integer;
--> statement-breakpoint
DROP TRIGGER `ledger_entry_is_not_removed`;
--> statement-breakpoint
CREATE TRIGGER `ledger_entry_is_not_removed` BEFORE DELETE ON `ledger_entry`
WHEN old.`entries` IS NULL AND NOT EXISTS (SELECT 1 FROM `task` WHERE `number` = old.`task_number` AND `status` = 'removed') BEGIN
	SELECT RAISE(ABORT, 'ledger entries are never removed');
END;
--> statement-breakpoint
CREATE TRIGGER `task_is_not_removed` BEFORE DELETE ON `task` WHEN old.`status` <> 'removed' BEGIN
	SELECT RAISE(ABORT, 'a task that is kept is never removed');
END;
--> statement-breakpoint
CREATE UNIQUE INDEX `ledger_entry_sum` ON `ledger_entry` (`account_number`,`kind`,"at" / 86400000) WHERE "entries" is not null;
