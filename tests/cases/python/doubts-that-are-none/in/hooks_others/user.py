from hooks_others.old import shown
