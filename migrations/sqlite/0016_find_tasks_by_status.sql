DROP INDEX `task_of_account`;--> statement-breakpoint
DROP INDEX `task_live`;--> statement-breakpoint
CREATE INDEX `task_ended` ON `task` (`account_id`,`status`,`kind`,`model`,`id`) WHERE status in ('completed', 'failed', 'cancelled');--> statement-breakpoint
CREATE INDEX `task_ended_of_all` ON `task` (`status`,`kind`,`model`,`id`) WHERE status in ('completed', 'failed', 'cancelled');--> statement-breakpoint
CREATE INDEX `task_live` ON `task` (`account_id`,`status`,`key_id`,`kind`,`model`,`id`) WHERE status in ('pending', 'processing');