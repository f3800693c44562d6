CREATE TABLE `credit_key` (
	`account_id` text NOT NULL,
	`key` text NOT NULL,
	`amount_micros` integer NOT NULL,
	`reason` text NOT NULL,
	PRIMARY KEY(`account_id`, `key`),
	FOREIGN KEY (`account_id`) REFERENCES `account`(`id`) ON UPDATE no action ON DELETE no action
) STRICT, WITHOUT ROWID;
