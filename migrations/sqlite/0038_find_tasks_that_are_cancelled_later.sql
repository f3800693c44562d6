ALTER TABLE `task` ADD `cancels_later` integer;--> statement-breakpoint
UPDATE `task` SET `cancels_later` = 1
	WHERE `status` IN ('pending', 'processing')
		AND (json_extract(`request`, '$.cancelAt') IS NOT NULL OR json_extract(`request`, '$.group.policy') = 'first');
--> statement-breakpoint
CREATE INDEX `task_cancels_later` ON `task` (`id`) WHERE status in ('pending', 'processing') and cancels_later is not null;
