from metaclasses_others.old import shown
