UPDATE `task` SET `files_removed_at` = `completed_at` WHERE `status` = 'removed' AND `files_removed_at` IS NULL;
--> statement-breakpoint
CREATE INDEX `task_removed` ON `task` (`files_removed_at`) WHERE "status" = 'removed';
