ALTER TABLE `attempt` ADD `accepted_at` integer;--> statement-breakpoint
ALTER TABLE `attempt` ADD `made_at` integer;