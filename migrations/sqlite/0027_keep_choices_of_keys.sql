CREATE TABLE `key_choice` (
	`key_id` text NOT NULL,
	`matter` text NOT NULL,
	`choice` text NOT NULL,
	PRIMARY KEY(`key_id`, `matter`),
	FOREIGN KEY (`key_id`) REFERENCES `api_key`(`id`) ON UPDATE no action ON DELETE no action
) STRICT;
