CREATE TABLE `trail_entry` (
	`id` integer PRIMARY KEY NOT NULL,
	`at` integer NOT NULL,
	`actor_kind` text NOT NULL,
	`actor` text NOT NULL,
	`actor_name` text,
	`action` text NOT NULL,
	`object_kind` text NOT NULL,
	`object` text NOT NULL,
	`object_name` text,
	`before` text,
	`after` text
) STRICT;
--> statement-breakpoint
CREATE INDEX `trail_entry_at` ON `trail_entry` (`at`);--> statement-breakpoint
CREATE INDEX `trail_entry_actor` ON `trail_entry` (`actor`,`at`);--> statement-breakpoint
CREATE INDEX `trail_entry_action` ON `trail_entry` (`action`,`at`);--> statement-breakpoint
CREATE INDEX `trail_entry_object` ON `trail_entry` (`object`,`at`);--> statement-breakpoint
CREATE TRIGGER `trail_entry_stays` BEFORE DELETE ON `trail_entry` BEGIN SELECT raise(abort, 'the trail is append-only'); END;--> statement-breakpoint
CREATE TRIGGER `trail_entry_stays_as_it_is` BEFORE UPDATE ON `trail_entry` BEGIN SELECT raise(abort, 'the trail is append-only'); END;
