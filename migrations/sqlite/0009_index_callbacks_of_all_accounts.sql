CREATE INDEX `callback_of_time` ON `callback` (`created_at`,`id`);--> statement-breakpoint
CREATE INDEX `callback_failed` ON `callback` (`created_at`,`id`) WHERE "state" = 'failed';