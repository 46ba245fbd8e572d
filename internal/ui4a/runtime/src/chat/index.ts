// What a person does on the card, told to the conversation: in event handlers only, one for each gesture
export * from "./send";
