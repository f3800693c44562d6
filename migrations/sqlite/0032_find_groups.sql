-- in steps
ALTER TABLE `task` ADD `begins_group` integer;
--> statement-breakpoint
-- for the rows of task
UPDATE `task` SET `begins_group` = 1
	WHERE rowid > ?1 AND rowid <= ?2 AND `status` <> 'removed' AND json_extract(`request`, '$.group.tasks[0]') = `id`;
--> statement-breakpoint
CREATE INDEX `task_group` ON `task` (`account_number`,`id`) WHERE begins_group is not null;
