ALTER TABLE `route_trouble` ADD `kind` text DEFAULT 'refused' NOT NULL;--> statement-breakpoint
ALTER TABLE `route_trouble` ADD `until` integer;--> statement-breakpoint
ALTER TABLE `route_trouble` ADD `times` integer DEFAULT 1 NOT NULL;