ALTER TABLE "route_trouble" ADD COLUMN "callers" text collate "C";--> statement-breakpoint
ALTER TABLE "route_trouble" ADD COLUMN "serves_others" smallint DEFAULT 0 NOT NULL;