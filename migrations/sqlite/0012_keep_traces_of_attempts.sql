ALTER TABLE `attempt` ADD `considered` text;--> statement-breakpoint
ALTER TABLE `attempt` ADD `trace` text;