'use strict';

throw new Error('thrown at boot on purpose');
