ALTER TABLE `route_trouble` ADD `callers` text;--> statement-breakpoint
ALTER TABLE `route_trouble` ADD `serves_others` integer DEFAULT false NOT NULL;