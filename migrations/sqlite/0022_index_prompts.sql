CREATE TABLE `search_state` (
	`id` integer PRIMARY KEY NOT NULL,
	`indexed_to` integer NOT NULL
) STRICT;
--> statement-breakpoint
CREATE VIRTUAL TABLE `task_search` USING fts5(`words`, `tags`, content='', contentless_delete=1, tokenize='ascii');
--> statement-breakpoint
INSERT INTO `task_search` (`task_search`, `rank`) VALUES ('automerge', 0);
--> statement-breakpoint
INSERT INTO `task_search` (`task_search`, `rank`) VALUES ('crisismerge', 1999);
