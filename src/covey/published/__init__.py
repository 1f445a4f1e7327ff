"""What people hold: releases, certificates, coresets, levels, and their files. Free of rows, noise and budget."""
