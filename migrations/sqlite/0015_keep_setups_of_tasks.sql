DROP INDEX `task_ready`;--> statement-breakpoint
ALTER TABLE `task` ADD `setup` text DEFAULT '' NOT NULL;--> statement-breakpoint
CREATE INDEX `task_ready` ON `task` (`lane`,`setup`,`account_id`,`id`) WHERE "pool" = 'ready';