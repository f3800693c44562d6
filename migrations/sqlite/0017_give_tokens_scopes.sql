ALTER TABLE `management_token` ADD `scopes` text DEFAULT '["read","keys","money","system"]' NOT NULL;--> statement-breakpoint
ALTER TABLE `management_token` ADD `expires_at` integer;--> statement-breakpoint
ALTER TABLE `management_token` ADD `last_used_at` integer;