ALTER TABLE `task` ADD `retain_sec` integer;--> statement-breakpoint
ALTER TABLE `task` ADD `files_removed_at` integer;--> statement-breakpoint
CREATE INDEX `task_files_due` ON `task` ("completed_at" + "retain_sec" * 1000) WHERE "retain_sec" is not null and "files_removed_at" is null;