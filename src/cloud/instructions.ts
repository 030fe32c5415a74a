/** What a client is told of the cloud tools as a whole. Its essentials stand in the first 2,048 characters. */
export const CLOUD_INSTRUCTIONS = `Cloud phones of the Mobilerun platform, under a policy: tools that are not listed are closed to this credential, and so are operations that a description leaves out. Where create_device is missing, ask the user for a phone.

1. list_devices shows the phones there are. create_device makes one and costs money; manage_device with wait_ready waits until it can be used.
2. Look before you act: get_device_ui_state lists what is on the screen with ids and positions, get_device_screenshot shows it. After an action look again.
3. device_action taps, swipes and types. Prefer tapping by text or resource id over coordinates.
4. run_task lets an agent on the platform do a whole task and costs credits; get_task tells how it goes.
5. terminate_device ends a phone for good. Ask the user before anything that costs or can't be undone.

Long answers are cut and say how to get the rest. Passwords on the screen are masked; the values of stored credentials never leave the platform: name a credential in run_task instead.
An error begins with its code in brackets: forbidden is the policy's or the platform's no, rate_limited says when to come back, conflict means that the device is not in the right state. A call that may have had an effect is never sent twice by itself: look whether it had one before you repeat it.
`;
