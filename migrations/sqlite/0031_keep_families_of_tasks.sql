ALTER TABLE `task` ADD `parent` text;--> statement-breakpoint
ALTER TABLE `task` ADD `relation` text;--> statement-breakpoint
ALTER TABLE `task` ADD `family_number` integer;--> statement-breakpoint
CREATE INDEX `task_family` ON `task` (`family_number`,`account_number`,`id`) WHERE "family_number" is not null;