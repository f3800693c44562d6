DROP INDEX `task_ended`;--> statement-breakpoint
DROP INDEX `task_ended_of_all`;--> statement-breakpoint
CREATE INDEX `task_ended` ON `task` (`account_number`,`status`,`kind`,`model_label`,`id`) WHERE (status = 'completed' or status = 'failed' or status = 'cancelled');--> statement-breakpoint
CREATE INDEX `task_ended_of_all` ON `task` (`status`,`kind`,`model_label`,`id`) WHERE (status = 'completed' or status = 'failed' or status = 'cancelled');