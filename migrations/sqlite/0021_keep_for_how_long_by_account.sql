ALTER TABLE `account` ADD `retain_outputs_sec` integer;--> statement-breakpoint
ALTER TABLE `account` ADD `retain_inputs_sec` integer;--> statement-breakpoint
ALTER TABLE `account` ADD `retain_callbacks_sec` integer;--> statement-breakpoint
ALTER TABLE `account` ADD `retain_tasks_sec` integer;